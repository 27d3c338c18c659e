// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/html_text.h"

#include "projects/base/text.h"
#include "resources/axis.h"
#include "resources/colours.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace residua::report {
namespace {

using resources::shortNumber;
using resources::Theme;

constexpr double kSide = 640; ///< width of the grid
constexpr double kMargin = 44;
constexpr double kLetter = 6.5;            ///< width of an average letter
constexpr std::int64_t kMostLabelled = 16; ///< columns up to which cells show their number
constexpr int kEndDigits = 7;              ///< as many as an end of a scale has
constexpr int kColours = 33;               ///< entries of the page's colour table

// A light theme's colours. The cells have a background of their own, so they are legible on a dark page too.
std::string colourTable(const projects::WeightScale& scale)
{
    std::ostringstream out;
    for (int i = 0; i < kColours; ++i) {
        const double t = static_cast<double>(i) / (kColours - 1);
        const auto rgb =
            scale.centre ? resources::diverging(2 * t - 1, Theme::Light) : resources::magnitude(t, Theme::Light);
        out << (i == 0 ? "" : ",") << '"' << rgb.hex() << '"';
    }
    return out.str();
}

/// Draws the names or numbers of classes, shortened to the room that they have.
void drawClasses(std::ostringstream& out, const std::vector<std::string>& classes, double cell)
{
    const std::size_t every = std::max<std::size_t>(1, (classes.size() + 31) / 32);
    for (std::size_t i = 0; i < classes.size(); i += every) {
        const double middle = kMargin + (static_cast<double>(i) + 0.5) * cell;
        const auto label = [&](double room) {
            const std::string& name = classes[i];
            return "<title>" + escapeHtml(name) + "</title>" +
                   escapeHtml(shortened(name, static_cast<std::size_t>(std::max(room / kLetter, 3.0)))) + "</text>";
        };
        out << "<text class='tick' text-anchor='middle' x='" << middle << "' y='" << kMargin - 8 << "'>"
            << label(cell * static_cast<double>(every)) << "<text class='tick' text-anchor='end' x='" << kMargin - 4
            << "' y='" << middle + 4 << "'>" << label(kMargin);
    }
    out << "<text class='label' x='" << kMargin << "' y='14'>predicted class →, true class ↓</text>";
}

void drawLabels(std::ostringstream& out, const engine::Matrix& shape, double cell)
{
    if (shape.name.kind == engine::matrix::kRollout) {
        out << "<text class='label' x='" << kMargin << "' y='" << kMargin - 8 << "'>x →, y ↓</text>";
        return;
    }
    const bool shortcuts = shape.name.isOfShortcuts();
    const std::int64_t first = shortcuts ? 0 : 1;
    const std::int64_t every = std::max<std::int64_t>(1, (shape.columns + 31) / 32);
    for (std::int64_t column = 0; column < shape.columns; column += every) {
        out << "<text class='tick' text-anchor='middle' x='" << kMargin + (static_cast<double>(column) + 0.5) * cell
            << "' y='" << kMargin - 8 << "'>" << column + first << "</text>";
    }
    for (std::int64_t row = 0; row < shape.rows; row += every) {
        out << "<text class='tick' text-anchor='end' x='" << kMargin - 8 << "' y='"
            << kMargin + (static_cast<double>(row) + 0.5) * cell + 4 << "'>" << row + 1 << "</text>";
    }
    const bool layers = shape.name.kind == engine::matrix::kActive;
    const bool streams =
        shape.name.kind == engine::matrix::kStreamRead || shape.name.kind == engine::matrix::kStreamWrite;
    out << "<text class='label' x='" << kMargin << "' y='14'>"
        << (shortcuts ? "source i → (0: the input), target j ↓"
            : layers  ? "layer →"
            : streams ? "stream →, layer ↓"
                      : "column →, row ↓")
        << "</text>";
}

/// Draws the cells that have a number in any frame.
void drawCells(std::ostringstream& out, const std::vector<engine::Matrix>& frames, double cell)
{
    const engine::Matrix& frame = frames.back();
    for (std::int64_t row = 0; row < frame.rows; ++row) {
        for (std::int64_t column = 0; column < frame.columns; ++column) {
            const auto has = [&](const engine::Matrix& matrix) { return std::isfinite(matrix.at(row, column)); };
            if (std::ranges::none_of(frames, has)) {
                continue;
            }
            const double x = kMargin + static_cast<double>(column) * cell;
            const double y = kMargin + static_cast<double>(row) * cell;
            out << "<g data-cell='" << row * frame.columns + column << "'><rect x='" << x << "' y='" << y << "' width='"
                << cell - 1 << "' height='" << cell - 1 << "'/>";
            if (frame.columns <= kMostLabelled) {
                out << "<text text-anchor='middle' x='" << x + cell / 2 << "' y='" << y + cell / 2 + 4 << "'></text>";
            }
            out << "<title></title></g>";
        }
    }
}

/// Returns the bytes of a Windows bitmap of 24 bits a pixel, whose rows are bottom up and padded to four bytes.
std::string bitmapOf(const engine::Matrix& pixels)
{
    constexpr std::size_t kHeader = 54;
    constexpr std::size_t kInfo = 40;
    const std::size_t line = (static_cast<std::size_t>(pixels.columns) * 3 + 3) / 4 * 4;
    std::string bytes = "BM";
    const auto add = [&bytes](std::size_t number, int count) {
        for (int i = 0; i < count; ++i) {
            bytes += static_cast<char>(number >> (8 * i) & 0xFFU);
        }
    };
    add(kHeader + line * static_cast<std::size_t>(pixels.rows), 4);
    add(0, 4);
    add(kHeader, 4);
    add(kInfo, 4);
    add(static_cast<std::size_t>(pixels.columns), 4);
    add(static_cast<std::size_t>(pixels.rows), 4);
    add(1, 2);              // planes
    add(24, 2);             // bits
    bytes.append(24, '\0'); // uncompressed
    for (std::int64_t row = pixels.rows; row-- > 0;) {
        for (std::int64_t column = 0; column < pixels.columns; ++column) {
            const float colour = pixels.at(row, column); // of a damaged record any number
            add(colour > 0 ? static_cast<std::size_t>(std::min(colour, 16777215.0F)) : 0, 3);
        }
        bytes.resize((bytes.size() - kHeader + line - 1) / line * line + kHeader);
    }
    return bytes;
}

std::string base64(const std::string& bytes)
{
    constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const auto at = [&](std::size_t j) { return j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0U; };
        const unsigned group = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
        for (const int shift : {18, 12, 6, 0}) {
            text += kDigits[group >> shift & 63U];
        }
    }
    constexpr std::size_t kPadding[] = {0, 2, 1};
    const std::size_t padding = kPadding[bytes.size() % 3];
    return text.replace(text.size() - padding, padding, padding, '=');
}

/// Writes the title of a figure with the step of its last frame, and the slider over several frames.
void writeCaption(std::ostringstream& out, const std::string& title, const std::vector<engine::Matrix>& frames)
{
    out << "<figcaption><b>" << escapeHtml(title) << "</b>, step <output>" << frames.back().step
        << "</output></figcaption>";
    if (frames.size() > 1) {
        out << "<input type='range' aria-label='recorded step' min='0' max='" << frames.size() - 1 << "' value='"
            << frames.size() - 1 << "'>";
    }
}

std::string jsonNumber(float value)
{
    const bool isCount = value == std::round(value);
    return numberText(static_cast<double>(value), isCount ? 9 : 4);
}

/// Writes what the colours of a matrix from `scale.low` to `high` mean.
void writeColours(std::ostringstream& out, const engine::Matrix& shape, const projects::WeightScale& scale, double high)
{
    out << "<div class='scale'>";
    if (shape.name.kind != engine::matrix::kRollout) {
        out << "<span>" << shortNumber(scale.low, kEndDigits) << "</span><i></i><span>" << shortNumber(high, kEndDigits)
            << "</span></div>";
        return;
    }
    for (const auto& [value, name] : engine::matrix::kRolloutCells) {
        const double t = (static_cast<double>(value) - scale.low) / (high - scale.low);
        out << "<b style='width:12px;height:12px;background:" << resources::magnitude(t, Theme::Light).hex()
            << "'></b><span>" << name << "</span>";
    }
    out << "</div>";
}

// null where there is no shortcut, so that the values are JSON.
void writeFrames(std::ostringstream& out, const std::vector<engine::Matrix>& frames)
{
    out << "{\"columns\":" << frames.front().columns << ",\"steps\":[";
    for (std::size_t i = 0; i < frames.size(); ++i) {
        out << (i == 0 ? "" : ",") << frames[i].step;
    }
    out << "],\"values\":[";
    for (std::size_t i = 0; i < frames.size(); ++i) {
        out << (i == 0 ? "[" : ",[");
        for (std::size_t j = 0; j < frames[i].values.size(); ++j) {
            const float value = frames[i].values[j];
            out << (j == 0 ? "" : ",") << (std::isfinite(value) ? jsonNumber(value) : "null");
        }
        out << ']';
    }
    out << "]}";
}

} // namespace

std::string htmlHeatmap(const std::string& title, const std::vector<engine::Matrix>& frames,
                        const projects::WeightScale& scale, const std::vector<std::string>& classes)
{
    if (frames.empty() || frames.back().columns == 0) {
        return {};
    }
    const engine::Matrix& last = frames.back();
    const double high = scale.high > scale.low ? scale.high : scale.low + 1; // if all are 0
    const double cell = std::min(kSide / static_cast<double>(last.columns), 56.0);
    const double width = kMargin + cell * static_cast<double>(last.columns) + 4;
    const double height = kMargin + cell * static_cast<double>(last.rows) + 4;
    std::ostringstream out;
    out << "<figure class='heatmap' data-low='" << scale.low << "' data-high='" << high << "' data-digits='"
        << (classes.empty() ? projects::decimalsOf(scale) : 0)
        << (last.name.isOfShortcuts() || !classes.empty() ? "" : "' data-columns='1")
        << (classes.empty() ? "" : "' data-rows='0") << "'>";
    writeCaption(out, title, frames);
    out << "<svg role='img' aria-label='" << escapeHtml(title) << "' style='max-width:" << width << "px' viewBox='0 0 "
        << width << ' ' << height << "'>";
    classes.empty() ? drawLabels(out, last, cell) : drawClasses(out, classes, cell);
    drawCells(out, frames, cell);
    out << "</svg>";
    writeColours(out, last, scale, high);
    out << "<script type='application/json' class='frames'>";
    writeFrames(out, frames);
    out << "</script><script type='application/json' class='colours'>[" << colourTable(scale) << "]</script></figure>";
    return out.str();
}

std::string htmlPictures(const std::string& title, const std::vector<engine::Matrix>& frames)
{
    if (frames.empty() || frames.back().columns == 0) {
        return {};
    }
    constexpr std::int64_t kLeastSide = 272; ///< small pictures are enlarged
    const std::int64_t columns = frames.back().columns;
    const std::int64_t times = std::max<std::int64_t>(2, kLeastSide / columns);
    std::ostringstream out;
    out << "<figure class='pictures'>";
    writeCaption(out, title, frames);
    for (const engine::Matrix& frame : frames) {
        out << "<img alt='" << escapeHtml(title) << ", step " << frame.step << "' data-step='" << frame.step
            << "' width='" << columns * times << "'" << (&frame == &frames.back() ? "" : " hidden")
            << " src='data:image/bmp;base64," << base64(bitmapOf(frame)) << "'>";
    }
    out << "</figure>";
    return out.str();
}

} // namespace residua::report
