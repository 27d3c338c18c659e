// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/svg_plot.h"

#include "app/report/html_text.h"
#include "projects/base/text.h"
#include "resources/axis.h"
#include "resources/curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <ostream>
#include <sstream>
#include <string_view>

namespace residua::report {
namespace {

constexpr double kBaseline = 18; ///< of the first row
constexpr double kRow = 18;
constexpr double kBelow = 16;         ///< between the last baseline and the plot
constexpr double kLine = 20;          ///< sample line of a curve before its name
constexpr double kMiddle = 4;         ///< of letters, above their baseline
constexpr double kDotSample = 4;      ///< radius
constexpr double kBeside = 6;         ///< between a curve's line and its name
constexpr double kBetween = 14;       ///< between a name and the next curve's line
constexpr double kApart = 24;         ///< between the title and the names beside it
constexpr std::size_t kTooltip = 500; ///< bytes
constexpr double kTitle = 1.15;       ///< relative width, because its letters are bold and larger

void writeText(std::ostream& out, const char* kind, double x, double y, const std::string& shown,
               const std::string& whole)
{
    out << "<text class='" << kind << "' x='" << x << "' y='" << y << "'>" << escapeHtml(shown);
    if (shown != whole) {
        out << "<title>" << escapeHtml(shortened(whole, kTooltip)) << "</title>";
    }
    out << "</text>";
}

/// Returns the class of a line.
const char* wordOf(Stroke stroke)
{
    static constexpr std::array<const char*, 6> kWords{"solid", "faint", "dashed", "dotted", "dashed", "solid"};
    return kWords[static_cast<std::size_t>(stroke)];
}

/// Draws a sample of a curve from `x` to the right.
void drawSample(std::ostream& out, const PlotCurve& curve, double x, double y)
{
    if (curve.stroke == Stroke::Dots) {
        out << "<circle class='d" << curve.colour << "' r='" << kDotSample << "' cx='" << x + kLine / 2 << "' cy='" << y
            << "'/>";
        return;
    }
    out << "<line class='curve c" << curve.colour << ' ' << wordOf(curve.stroke) << "' x1='" << x << "' x2='"
        << x + kLine << "' y1='" << y << "' y2='" << y << "'/>";
}

/// The title of a plot and the names of its curves: side by side if there is room, else with the names in rows below
/// it. Long texts are shortened, with the full text in a tooltip, so that nothing overlaps.
struct SvgHeading {
    struct Entry {
        const PlotCurve* curve = nullptr;
        std::string name; ///< as shown
        double width = 0;
        double x = 0;
        int row = 0; ///< 0: the title's row
    };

    std::string title; ///< as shown
    double left = 0;
    std::vector<Entry> entries = {};
    int rows = 1;

    /// Returns the y at which the contents below may begin.
    [[nodiscard]] double bottom() const { return kBaseline + (rows - 1) * kRow + kBelow; }
};

/// Places the heading between `left` and `right`, from the top.
SvgHeading headingOf(const PlotSpec& spec, double left, double right)
{
    SvgHeading heading{elided(spec.title, (right - left) / kTitle), left};
    double all = 0;
    for (const PlotCurve& curve : spec.curves) {
        if (!curve.name.empty()) {
            const std::string name = elided(curve.name, right - left - kLine - kBeside - kBetween);
            heading.entries.push_back({&curve, name, kLine + kBeside + textWidth(name) + kBetween});
            all += heading.entries.back().width;
        }
    }
    const bool below = textWidth(heading.title) * kTitle + kApart + all > right - left;
    double x = below ? left : right - all;
    heading.rows = below ? 2 : 1;
    for (SvgHeading::Entry& entry : heading.entries) {
        if (below && x > left && x + entry.width > right) {
            x = left;
            ++heading.rows;
        }
        entry.x = x;
        entry.row = heading.rows - 1;
        x += entry.width;
    }
    return heading;
}

void drawHeading(std::ostream& out, const SvgHeading& heading, const std::string& title)
{
    writeText(out, "title", heading.left, kBaseline, heading.title, title);
    for (const SvgHeading::Entry& entry : heading.entries) {
        const double y = kBaseline + entry.row * kRow;
        drawSample(out, *entry.curve, entry.x, y - kMiddle);
        writeText(out, "tick", entry.x + kLine + kBeside, y, entry.name, entry.curve->name);
    }
}

using resources::AxisRange;
using resources::AxisTick;
using Point = resources::Curve::Point;

constexpr double kWidth = 860;
constexpr double kPlotHeight = 242;
constexpr double kLeft = 62; ///< minimum; the numbers of the axis may need more
constexpr double kRight = 16;
constexpr double kBottom = 44;
constexpr double kGap = 8;            ///< between an axis and its numbers
constexpr double kCurveMargin = 0.05; ///< above and below the curves
constexpr int kTicksUp = 5;
constexpr int kTicksAlong = 8;
constexpr double kPoint = 2.5; ///< radius of a point without neighbours
constexpr double kDot = 5;
constexpr std::size_t kColumns = 400;

/// The mapping of a plot's values to its picture.
struct Frame {
    AxisRange xRange;
    AxisRange yRange;
    AxisScale yScale = AxisScale::Linear;
    std::vector<AxisTick> xTicks;
    std::vector<AxisTick> yTicks;
    double left = kLeft;
    double top = 0;

    [[nodiscard]] double bottom() const { return top + kPlotHeight; }
    [[nodiscard]] double right() const { return kWidth - kRight; }
    /// True if a value is on the vertical axis.
    [[nodiscard]] bool holds(double value) const
    {
        return std::isfinite(value) && (yScale == AxisScale::Linear || value > 0);
    }
    [[nodiscard]] double x(double value) const { return left + share(xRange, value) * (right() - left); }
    [[nodiscard]] double y(double value) const
    {
        const AxisRange exponents{std::log10(yRange.low), std::log10(yRange.high)};
        return bottom() -
               (yScale != AxisScale::Linear ? share(exponents, std::log10(value)) : share(yRange, value)) * kPlotHeight;
    }

private:
    [[nodiscard]] static double share(AxisRange range, double value)
    {
        return (std::clamp(value, range.low, range.high) - range.low) / (range.high - range.low);
    }
};

/// Returns as many ticks as have room for their labels side by side.
std::vector<AxisTick> ticksAlong(AxisRange range, double least, double width)
{
    std::vector<AxisTick> ticks;
    for (int count = kTicksAlong; count > 0; count /= 2) {
        ticks = resources::linearTicks(range, count, least);
        double all = 0;
        for (const AxisTick& tick : ticks) {
            all += textWidth(tick.label) + kGap;
        }
        if (all <= width) {
            break;
        }
    }
    return ticks;
}

Frame frameOf(const PlotSpec& spec)
{
    constexpr double kNone = std::numeric_limits<double>::infinity();
    Frame frame;
    frame.yScale = spec.yScale;
    AxisRange x{kNone, -kNone};
    AxisRange y{kNone, -kNone};
    for (const PlotCurve& curve : spec.curves) {
        for (std::size_t i = 0; i < curve.points.size(); ++i) {
            const Point point = curve.points.at(i);
            x = {std::min(x.low, point.x), std::max(x.high, point.x)};
            if (frame.holds(point.y)) {
                y = {std::min(y.low, point.y), std::max(y.high, point.y)};
            }
        }
    }
    frame.xRange = resources::linearRange(x.low, x.high, 0);
    if (spec.yScale != AxisScale::Linear) {
        frame.yRange = resources::logRange(std::max(y.low, y.high * std::pow(10.0, -kMostDecades)), y.high,
                                           kCurveMargin, spec.yBounds);
        frame.yTicks = resources::logTicks(frame.yRange, kTicksUp);
    } else {
        frame.yRange = resources::linearRange(y.low, y.high, kCurveMargin, spec.yBounds);
        frame.yTicks = resources::linearTicks(frame.yRange, kTicksUp);
    }
    for (const AxisTick& tick : frame.yTicks) {
        frame.left = std::max(frame.left, textWidth(tick.label) + 2 * kGap);
    }
    frame.xTicks = ticksAlong(frame.xRange, spec.xLeast, frame.right() - frame.left);
    return frame;
}

std::string coordinate(double value)
{
    return fixedText(value, 1);
}

/// Omits a name that would overlap the next band's.
void drawBands(std::ostringstream& out, const std::vector<PlotBand>& bands, const Frame& frame)
{
    for (std::size_t i = 0; i < bands.size(); ++i) {
        const double from = frame.x(bands[i].from);
        const double width = (i + 1 < bands.size() ? frame.x(bands[i + 1].from) : frame.right()) - from;
        if (i % 2 == 1) {
            out << "<rect class='band' x='" << coordinate(from) << "' y='" << frame.top << "' width='"
                << coordinate(width) << "' height='" << kPlotHeight << "'/>";
        }
        if (textWidth(bands[i].name) + kGap <= width) {
            out << "<text class='tick' x='" << coordinate(from + 4) << "' y='" << frame.top + 12 << "'>"
                << escapeHtml(bands[i].name) << "</text>";
        }
    }
}

void drawAxes(std::ostringstream& out, const PlotSpec& spec, const Frame& frame)
{
    for (const AxisTick& tick : frame.yTicks) {
        const std::string y = coordinate(frame.y(tick.value));
        out << "<line class='grid' x1='" << frame.left << "' x2='" << frame.right() << "' y1='" << y << "' y2='" << y
            << "'/>"
            << "<text class='tick' text-anchor='end' x='" << frame.left - kGap << "' y='"
            << coordinate(frame.y(tick.value) + 4) << "'>" << escapeHtml(tick.label) << "</text>";
    }
    for (const AxisTick& tick : frame.xTicks) {
        const double half = textWidth(tick.label) / 2;
        out << "<text class='tick' text-anchor='middle' x='" << coordinate(std::min(frame.x(tick.value), kWidth - half))
            << "' y='" << frame.bottom() + 18 << "'>" << escapeHtml(tick.label) << "</text>";
    }
    out << "<line class='axis' x1='" << frame.left << "' x2='" << frame.right() << "' y1='" << frame.bottom()
        << "' y2='" << frame.bottom() << "'/>";
    out << "<text class='label' text-anchor='middle' x='" << (frame.left + frame.right()) / 2 << "' y='"
        << frame.bottom() + kBottom - 8 << "'>" << escapeHtml(spec.xLabel) << "</text>";
}

void drawDot(std::ostringstream& out, Point point, const std::string& kind, double radius, const Frame& frame)
{
    out << "<circle class='" << kind << "' r='" << radius << "' cx='" << coordinate(frame.x(point.x)) << "' cy='"
        << coordinate(frame.y(point.y)) << "'/>";
}

/// Draws a line through each range of points that are on the axis. A point without neighbours is a dot.
void drawLine(std::ostringstream& out, const std::vector<Point>& points, const PlotCurve& curve, const Frame& frame)
{
    const std::string stroke = wordOf(curve.stroke);
    const std::string colour = std::to_string(curve.colour);
    const auto holds = [&](std::size_t i) { return i < points.size() && frame.holds(points[i].y); };
    std::ostringstream dots;
    out << "<path class='curve c" << colour << ' ' << stroke << "' d='";
    for (std::size_t i = 0; i < points.size(); ++i) {
        const bool follows = i > 0 && holds(i - 1);
        if (holds(i) && !follows && !holds(i + 1)) {
            drawDot(dots, points[i], 'd' + colour + ' ' + stroke, kPoint, frame);
        } else if (holds(i)) {
            out << (follows ? 'L' : 'M') << coordinate(frame.x(points[i].x)) << ' ' << coordinate(frame.y(points[i].y));
        }
    }
    out << "'/>" << dots.str();
}

/// Returns the drawing of a curve with kColumns columns.
resources::Curve::Sample sampleOf(const resources::Curve& curve, const Frame& frame)
{
    std::array<double, kColumns + 1> edges{};
    for (std::size_t i = 0; i < edges.size(); ++i) {
        edges[i] =
            std::lerp(frame.xRange.low, frame.xRange.high, static_cast<double>(i) / static_cast<double>(kColumns));
    }
    return curve.sample(edges);
}

void drawCurve(std::ostringstream& out, const PlotCurve& curve, const Frame& frame)
{
    if (curve.stroke == Stroke::Dots) {
        for (std::size_t i = 0; i < curve.points.size(); ++i) {
            if (const Point point = curve.points.at(i); frame.holds(point.y)) {
                drawDot(out, point, 'd' + std::to_string(curve.colour), kDot, frame);
            }
        }
        return;
    }
    const auto sample = sampleOf(curve.points, frame);
    drawLine(out, sample.line, curve, frame);
    std::string last;
    for (const Point& point : sample.broken) {
        const std::string x = coordinate(frame.x(point.x));
        if (x != last) {
            out << "<text class='broken' text-anchor='middle' x='" << x << "' y='" << frame.bottom() - 3
                << "'>×</text>";
        }
        last = x;
    }
}

/// Draws one plot at the origin; returns its height.
double drawPlot(std::ostringstream& out, const PlotSpec& spec)
{
    Frame frame = frameOf(spec);
    const SvgHeading heading = headingOf(spec, frame.left, frame.right());
    frame.top = heading.bottom();
    drawBands(out, spec.bands, frame);
    drawAxes(out, spec, frame);
    for (const PlotCurve& curve : spec.curves) {
        drawCurve(out, curve, frame);
    }
    drawHeading(out, heading, spec.title);
    return frame.bottom() + kBottom;
}

} // namespace

std::string svgPlot(const PlotSpec& spec)
{
    return svgPanels({spec});
}

std::string svgPanels(const std::vector<PlotSpec>& specs)
{
    std::ostringstream panels;
    std::string title;
    double height = 0;
    for (const PlotSpec& spec : specs) {
        if (std::ranges::all_of(spec.curves, [](const PlotCurve& curve) { return curve.points.size() == 0; })) {
            continue;
        }
        title += (title.empty() ? "" : "; ") + spec.title;
        if (height > 0) {
            panels << "<g transform='translate(0 " << height << ")'>";
        }
        const double bottom = drawPlot(panels, spec);
        panels << (height > 0 ? "</g>" : "");
        height += bottom;
    }
    if (height == 0) {
        return {};
    }
    std::ostringstream out;
    out << "<svg class='plot' role='img' aria-label='" << escapeHtml(title) << "' viewBox='0 0 " << kWidth << ' '
        << height << "'>" << panels.str() << "</svg>";
    return out.str();
}

std::string svgFile(const std::vector<PlotSpec>& specs)
{
    constexpr std::string_view kOpening = "<svg ";
    const std::string plots = svgPanels(specs);
    const std::size_t body = plots.find('>') + 1;
    if (plots.empty()) {
        return {};
    }
    return withLightColours("<svg xmlns='http://www.w3.org/2000/svg' " +
                            plots.substr(kOpening.size(), body - kOpening.size()) + "<style>" + svgStyle() +
                            "</style><rect width='100%' height='100%' style='fill:var(--surface)'/>" +
                            plots.substr(body) + "\n");
}

} // namespace residua::report
