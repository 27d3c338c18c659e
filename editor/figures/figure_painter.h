// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/figures/figure.h"
#include "editor/scenes/live_weights.h"
#include "resources/colours.h"

#include <string>
#include <utility>
#include <vector>

// The common part of the figures of scenes. Private to the module.
namespace residua::editor {

/// An entry of a legend: a sample of a line or a box, and its meaning.
struct LegendEntry {
    std::optional<FigurePen> line;
    std::optional<FigureFill> box;
    std::string text;
};

/// Collects the parts of a figure.
class FigurePainter {
public:
    explicit FigurePainter(const FigureStyle& style);

    [[nodiscard]] float width() const { return m_width; } ///< of the figure
    [[nodiscard]] float text() const { return m_text; }   ///< size
    [[nodiscard]] float small() const { return 0.8F * m_text; }
    /// Returns the factor from screen pixels, in which the canvases state widths of lines, to points.
    [[nodiscard]] float pixel() const { return m_text / 16; }
    [[nodiscard]] static const resources::ThemeColours& colours()
    {
        return resources::themeColours(resources::Theme::Light);
    }
    [[nodiscard]] float widthOf(const std::string& text, float size) const
    {
        return static_cast<float>(m_font.widthOf(size, text));
    }
    /// Cuts a text with an ellipsis to `width`; empty if nothing fits.
    [[nodiscard]] std::string elided(const std::string& text, float size, float width) const;

    void add(FigurePart part) { m_parts.push_back(std::move(part)); }
    void line(Point from, Point to, const FigurePen& pen) { add(FigurePath{.points = {from, to}, .pen = pen}); }
    /// Draws a text whose capital letters are centred about `at.y`.
    void write(Point at, const std::string& text, float size, resources::Rgb colour,
               FigureAnchor anchor = FigureAnchor::Middle);
    /// Draws a text in lines from `top` to the bottom, centred. Returns their lower end.
    float writeLines(float top, const std::string& text, resources::Rgb colour);

    /// Draws entries in rows from `top` to the bottom. Returns their lower end.
    float legend(float top, const std::vector<LegendEntry>& entries);
    /// Draws the colours of the weights with the ends of their scale. Returns its lower end.
    float scale(float top, const LiveWeights& weights, LiveMeasure measure);

    /// Returns the figure from `top` to `bottom`.
    [[nodiscard]] Figure finished(float top, float bottom) &&;

private:
    FigureFont m_font;
    std::string m_family;
    float m_width;
    float m_text;
    std::vector<FigurePart> m_parts;
};

} // namespace residua::editor
