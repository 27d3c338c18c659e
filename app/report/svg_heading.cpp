// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/svg_heading.h"

#include "app/report/html_text.h"

#include <algorithm>

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

/// Draws a sample of a curve from `x` to the right.
void drawSample(std::ostream& out, const Curve& curve, double x, double y)
{
    if (curve.stroke == Stroke::Dots) {
        out << "<circle class='d" << curve.colour << "' r='" << kDotSample << "' cx='" << x + kLine / 2 << "' cy='" << y
            << "'/>";
        return;
    }
    out << "<line class='curve c" << curve.colour
        << (curve.stroke == Stroke::Dashed   ? " dashed"
            : curve.stroke == Stroke::Dotted ? " dotted"
            : curve.stroke == Stroke::Faint  ? " faint"
                                             : " solid")
        << "' x1='" << x << "' x2='" << x + kLine << "' y1='" << y << "' y2='" << y << "'/>";
}

} // namespace

SvgHeading::SvgHeading(const PlotSpec& spec, double left, double right)
    : m_title(spec.title), m_shown(elided(spec.title, (right - left) / kTitle)), m_left(left)
{
    double all = 0;
    for (const Curve& curve : spec.curves) {
        if (!curve.name.empty()) {
            const std::string name = elided(curve.name, right - left - kLine - kBeside - kBetween);
            const double width = kLine + kBeside + textWidth(name) + kBetween;
            m_entries.push_back({&curve, name, 0, 0, width});
            all += width;
        }
    }
    const double title = textWidth(m_shown) * kTitle;
    title + kApart + all <= right - left ? placeBeside(right) : placeBelow(right);
}

/// Places the names right-aligned in the title's row.
void SvgHeading::placeBeside(double right)
{
    for (auto entry = m_entries.rbegin(); entry != m_entries.rend(); ++entry) {
        right -= entry->width;
        entry->x = right;
    }
}

void SvgHeading::placeBelow(double right)
{
    double x = m_left;
    m_rows = 2;
    for (Entry& entry : m_entries) {
        if (x > m_left && x + entry.width > right) {
            x = m_left;
            ++m_rows;
        }
        entry.x = x;
        entry.row = m_rows - 1;
        x += entry.width;
    }
}

double SvgHeading::bottom() const
{
    return kBaseline + (m_rows - 1) * kRow + kBelow;
}

void SvgHeading::draw(std::ostream& out) const
{
    writeText(out, "title", m_left, kBaseline, m_shown, m_title);
    for (const Entry& entry : m_entries) {
        const double y = kBaseline + entry.row * kRow;
        drawSample(out, *entry.curve, entry.x, y - kMiddle);
        writeText(out, "tick", entry.x + kLine + kBeside, y, entry.name, entry.curve->name);
    }
}

} // namespace residua::report
