// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/svg_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <sstream>

namespace residua::report {
namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 320;
constexpr double kLeft = 62;
constexpr double kRight = 16;
constexpr double kTop = 34;
constexpr double kBottom = 44;
constexpr double kGlyph = 7; ///< of a name's letters, about
constexpr std::size_t kColumns = 400;

struct Frame {
    double xLow = std::numeric_limits<double>::max();
    double xHigh = std::numeric_limits<double>::lowest();
    double yLow = std::numeric_limits<double>::max();
    double yHigh = std::numeric_limits<double>::lowest();
    AxisScale yScale = AxisScale::Linear; ///< on Log, yLow and yHigh are exponents

    /// Where a value stands on the axis; not finite where it has no place.
    [[nodiscard]] double place(double value) const { return yScale == AxisScale::Log ? std::log10(value) : value; }
    [[nodiscard]] double x(double value) const
    {
        return kLeft + (value - xLow) / (xHigh - xLow) * (kWidth - kLeft - kRight);
    }
    [[nodiscard]] double y(double value) const
    {
        return kHeight - kBottom - (std::max(place(value), yLow) - yLow) / (yHigh - yLow) * (kHeight - kTop - kBottom);
    }
};

Frame frameOf(const std::vector<Curve>& curves, AxisScale yScale)
{
    Frame frame;
    frame.yScale = yScale;
    for (const Curve& curve : curves) {
        for (const auto& point : curve.points) {
            const auto step = static_cast<double>(point.step);
            frame.xLow = std::min(frame.xLow, step);
            frame.xHigh = std::max(frame.xHigh, step);
            if (const double place = frame.place(point.value); std::isfinite(place)) {
                frame.yLow = std::min(frame.yLow, place);
                frame.yHigh = std::max(frame.yHigh, place);
            }
        }
    }
    if (frame.yLow > frame.yHigh) {
        frame.yLow = 0;
        frame.yHigh = 1;
    }
    if (yScale == AxisScale::Log) {
        frame.yLow = std::max(frame.yLow, frame.yHigh - kMostDecades);
    }
    const double margin = std::max((frame.yHigh - frame.yLow) * 0.05, 1e-12);
    frame.yLow -= margin;
    frame.yHigh += margin;
    if (frame.xLow >= frame.xHigh) {
        frame.xHigh = frame.xLow + 1;
    }
    return frame;
}

std::string coordinate(double value)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", value);
    return text.data();
}

/// Values, on a Log scale whole powers of ten.
std::vector<double> yTicks(const Frame& frame)
{
    std::vector<double> ticks = niceTicks(frame.yLow, frame.yHigh, 5);
    if (frame.yScale == AxisScale::Log) {
        std::erase_if(ticks, [](double exponent) { return exponent != std::round(exponent); });
        std::ranges::transform(ticks, ticks.begin(), [](double exponent) { return std::pow(10.0, exponent); });
    }
    return ticks;
}

/// Rounding leaves a tick at 0 on a linear scale alone.
std::string tickText(double tick, AxisScale scale)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.0e", tick);
    return scale == AxisScale::Log ? text.data() : shortNumber(tick);
}

/// A name that would run into the next band's is left out.
void drawBands(std::ostringstream& out, const std::vector<Band>& bands, const Frame& frame)
{
    const auto place = [&frame](std::int64_t step) {
        return frame.x(std::clamp(static_cast<double>(step), frame.xLow, frame.xHigh));
    };
    for (std::size_t i = 0; i < bands.size(); ++i) {
        const double from = place(bands[i].from);
        const double width = (i + 1 < bands.size() ? place(bands[i + 1].from) : frame.x(frame.xHigh)) - from;
        if (i % 2 == 1) {
            out << "<rect class='band' x='" << coordinate(from) << "' y='" << kTop << "' width='" << coordinate(width)
                << "' height='" << kHeight - kTop - kBottom << "'/>";
        }
        if (kGlyph * static_cast<double>(bands[i].name.size()) + 8 <= width) {
            out << "<text class='tick' x='" << coordinate(from + 4) << "' y='" << kTop + 12 << "'>"
                << escapeHtml(bands[i].name) << "</text>";
        }
    }
}

void drawAxes(std::ostringstream& out, const PlotSpec& spec, const Frame& frame)
{
    for (const double tick : yTicks(frame)) {
        const std::string y = coordinate(frame.y(tick));
        out << "<line class='grid' x1='" << kLeft << "' x2='" << kWidth - kRight << "' y1='" << y << "' y2='" << y
            << "'/>"
            << "<text class='tick' text-anchor='end' x='" << kLeft - 8 << "' y='" << coordinate(frame.y(tick) + 4)
            << "'>" << tickText(tick, frame.yScale) << "</text>";
    }
    for (const double tick : niceTicks(frame.xLow, frame.xHigh, 8)) {
        out << "<text class='tick' text-anchor='middle' x='" << coordinate(frame.x(tick)) << "' y='"
            << kHeight - kBottom + 18 << "'>" << shortNumber(tick) << "</text>";
    }
    out << "<line class='axis' x1='" << kLeft << "' x2='" << kWidth - kRight << "' y1='" << kHeight - kBottom
        << "' y2='" << kHeight - kBottom << "'/>";
    out << "<text class='label' text-anchor='middle' x='" << (kLeft + kWidth - kRight) / 2 << "' y='" << kHeight - 8
        << "'>" << escapeHtml(spec.xLabel) << "</text>";
    out << "<text class='title' x='" << kLeft << "' y='18'>" << escapeHtml(spec.title) << "</text>";
}

void drawDots(std::ostringstream& out, const Curve& curve, const Frame& frame)
{
    for (const auto& point : curve.points) {
        if (std::isfinite(frame.place(point.value))) {
            out << "<circle class='d" << curve.colour << "' r='5' cx='"
                << coordinate(frame.x(static_cast<double>(point.step))) << "' cy='" << coordinate(frame.y(point.value))
                << "'/>";
        }
    }
}

void drawCurve(std::ostringstream& out, const Curve& curve, const Frame& frame)
{
    if (curve.stroke == Stroke::Dots) {
        drawDots(out, curve, frame);
        return;
    }
    static constexpr std::array<const char*, 3> kClasses{"solid", "faint", "dashed"};
    out << "<path class='curve c" << curve.colour << ' ' << kClasses[static_cast<std::size_t>(curve.stroke)] << "' d='";
    bool pen = false;
    std::ostringstream crosses;
    for (const auto& point : envelope(curve.points, kColumns)) {
        const double x = frame.x(static_cast<double>(point.step));
        if (std::isfinite(point.value) && !std::isfinite(frame.place(point.value))) {
            pen = false;
            continue;
        }
        if (!std::isfinite(point.value)) {
            crosses << "<text class='broken' text-anchor='middle' x='" << coordinate(x) << "' y='"
                    << kHeight - kBottom - 3 << "'>×</text>";
            pen = false;
            continue;
        }
        out << (pen ? 'L' : 'M') << coordinate(x) << ' ' << coordinate(frame.y(point.value));
        pen = true;
    }
    out << "'/>" << crosses.str();
}

void drawLegend(std::ostringstream& out, const std::vector<Curve>& curves)
{
    double x = kWidth - kRight;
    for (auto curve = curves.rbegin(); curve != curves.rend(); ++curve) {
        if (curve->name.empty()) {
            continue;
        }
        const double width = kGlyph * static_cast<double>(curve->name.size()) + 34;
        x -= width;
        out << "<line class='curve c" << curve->colour << (curve->stroke == Stroke::Dashed ? " dashed" : " solid")
            << "' x1='" << x << "' x2='" << x + 20 << "' y1='14' y2='14'/><text class='tick' x='" << x + 26
            << "' y='18'>" << escapeHtml(curve->name) << "</text>";
    }
}

} // namespace

std::string svgPlot(const PlotSpec& spec)
{
    const bool any =
        std::any_of(spec.curves.begin(), spec.curves.end(), [](const Curve& c) { return !c.points.empty(); });
    if (!any) {
        return {};
    }
    const Frame frame = frameOf(spec.curves, spec.yScale);
    std::ostringstream out;
    out << "<svg class='plot' role='img' aria-label='" << escapeHtml(spec.title) << "' viewBox='0 0 " << kWidth << ' '
        << kHeight << "'>";
    drawBands(out, spec.bands, frame);
    drawAxes(out, spec, frame);
    for (const Curve& curve : spec.curves) {
        drawCurve(out, curve, frame);
    }
    drawLegend(out, spec.curves);
    out << "</svg>";
    return out.str();
}

std::vector<double> niceTicks(double low, double high, int count)
{
    const double rough = (high - low) / std::max(count, 1);
    if (!(rough > 0) || !std::isfinite(rough)) {
        return {};
    }
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    const double lead = rough / power;
    const double step = power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
    std::vector<double> ticks;
    for (double index = std::ceil(low / step); index * step <= high; ++index) {
        ticks.push_back(index * step);
    }
    return ticks;
}

std::vector<engine::MetricPoint> envelope(const std::vector<engine::MetricPoint>& points, std::size_t columns)
{
    if (points.size() <= 4 * columns) {
        return points;
    }
    std::vector<engine::MetricPoint> kept;
    kept.reserve(4 * columns);
    for (std::size_t column = 0; column < columns; ++column) {
        const std::size_t begin = points.size() * column / columns;
        const std::size_t end = points.size() * (column + 1) / columns;
        std::array picks{begin, begin, begin, end - 1};
        for (std::size_t i = begin; i < end; ++i) {
            // A value that is not finite is an event of its own and outranks the smallest.
            if (!std::isfinite(points[i].value) || points[i].value < points[picks[1]].value) {
                picks[1] = std::isfinite(points[picks[1]].value) ? i : picks[1];
            }
            if (points[i].value > points[picks[2]].value) {
                picks[2] = i;
            }
        }
        std::sort(picks.begin(), picks.end());
        const auto last = std::unique(picks.begin(), picks.end());
        for (auto pick = picks.begin(); pick != last; ++pick) {
            kept.push_back(points[*pick]);
        }
    }
    return kept;
}

std::string escapeHtml(const std::string& text)
{
    std::string escaped;
    for (const char c : text) {
        switch (c) {
        case '&':
            escaped += "&amp;";
            break;
        case '<':
            escaped += "&lt;";
            break;
        case '>':
            escaped += "&gt;";
            break;
        case '\'':
            escaped += "&#39;";
            break;
        case '"':
            escaped += "&quot;";
            break;
        default:
            escaped += c;
        }
    }
    return escaped;
}

std::string shortNumber(double value)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g", std::abs(value) < 1e-14 ? 0.0 : value);
    return text.data();
}

} // namespace residua::report
