// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/figures/figure_painter.h"

#include "editor/scenes/words.h"
#include "projects/base/text.h"
#include "resources/axis.h"

#include <algorithm>

namespace residua::editor {
namespace {

constexpr float kCapital = 0.72F; ///< height of capital letters, in sizes of the text
constexpr float kLine = 1.45F;    ///< between baselines
constexpr int kPieces = 40;       ///< of a scale of colours
constexpr int kDigits = 4;        ///< of its ends

void move(FigurePath& path, float down)
{
    for (Point& point : path.points) {
        point.y += down;
    }
}
void move(FigureBox& box, float down)
{
    box.rect.top += down;
    box.rect.bottom += down;
}
void move(FigureText& text, float down)
{
    text.at.y += down;
}

} // namespace

FigurePainter::FigurePainter(const FigureStyle& style)
    : m_font(style.family),
      m_family(style.family),
      m_width(static_cast<float>(style.centimetres * kPointsPerCm)),
      m_text(static_cast<float>(style.text))
{
}

std::string FigurePainter::elided(const std::string& text, float size, float width) const
{
    return editor::elided(text, width, [this, size](const std::string& part) { return widthOf(part, size); });
}

void FigurePainter::write(Point at, const std::string& text, float size, resources::Rgb colour, FigureAnchor anchor)
{
    if (!text.empty()) {
        add(FigureText{{at.x, at.y + kCapital * size / 2}, text, size, colour, anchor});
    }
}

float FigurePainter::writeLines(float top, const std::string& text, resources::Rgb colour)
{
    const auto width = [this](const std::string& line) { return widthOf(line, small()); };
    for (const std::string& line : wrapped(text, m_width, width)) {
        write({m_width / 2, top + kLine * small() / 2}, line, small(), colour);
        top += kLine * small();
    }
    return top;
}

float FigurePainter::legend(float top, const std::vector<LegendEntry>& entries)
{
    constexpr float kFirst = 0.75F; // a line has a width
    float left = kFirst;
    float middle = top + kLine * small() / 2;
    for (const LegendEntry& entry : entries) {
        const float sample = entry.line || entry.box ? 1.6F * m_text : 0;
        const float before = sample > 0 ? sample + 0.4F * m_text : 0;
        const std::string text = elided(entry.text, small(), m_width - before - kFirst);
        const float width = before + widthOf(text, small());
        if (left > kFirst && left + width > m_width) {
            left = kFirst;
            middle += kLine * small();
        }
        if (entry.line) {
            line({left, middle}, {left + sample, middle}, *entry.line);
        }
        if (entry.box) {
            const float half = 0.36F * m_text;
            const float at = left + sample / 2;
            add(FigureBox{{at - half, middle - half, at + half, middle + half}, 0.5F, {}, entry.box});
        }
        write({left + before, middle}, text, small(), colours().text, FigureAnchor::Start);
        left += width + m_text;
    }
    return entries.empty() ? top : middle + kLine * small() / 2;
}

float FigurePainter::scale(float top, const LiveWeights& weights, LiveMeasure measure)
{
    const projects::WeightScale& scale = weights.scale(measure);
    const std::string title = filled(translate("Canvas", "%1 at step %2"),
                                     {nameOfValue(weights, measure), groupedText(weights.step(measure))});
    const std::string low = resources::shortNumber(scale.low, kDigits);
    const std::string high = resources::shortNumber(scale.high, kDigits);
    const float gap = 0.5F * m_text;
    const float row = kLine * small();
    const float bar = std::min(10 * m_text, 0.4F * m_width);
    float left = widthOf(title, small()) + 2 * gap;
    const float whole = left + widthOf(low, small()) + gap + bar + gap + widthOf(high, small());
    write({0, top + row / 2}, elided(title, small(), m_width), small(), colours().text, FigureAnchor::Start);
    if (whole > m_width) {
        top += row;
        left = 0;
    }
    const float middle = top + row / 2;
    write({left, middle}, low, small(), colours().muted, FigureAnchor::Start);
    left += widthOf(low, small()) + gap;
    const float half = 0.35F * m_text;
    for (int i = 0; i < kPieces; ++i) {
        const double t = (i + 0.5) / kPieces;
        const float from = left + bar * static_cast<float>(i) / kPieces;
        // Each piece goes on below the next one, so that no viewer shows a gap between them.
        const float to = std::min(from + 2 * bar / kPieces, left + bar);
        add(FigureBox{.rect = {from, middle - half, to, middle + half},
                      .fill = FigureFill{
                          weightColour(scale, scale.low + t * (scale.high - scale.low), resources::Theme::Light)}});
    }
    write({left + bar + gap, middle}, high, small(), colours().muted, FigureAnchor::Start);
    return top + row;
}

Figure FigurePainter::finished(float top, float bottom) &&
{
    for (FigurePart& part : m_parts) {
        std::visit([top](auto& each) { move(each, -top); }, part);
    }
    return {m_width, bottom - top, m_family, std::move(m_parts)};
}

} // namespace residua::editor
