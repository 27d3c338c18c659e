// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/figures/figure_painter.h"
#include "editor/figures/scene_figures.h"
#include "editor/scenes/matrix_fills.h"
#include "editor/scenes/words.h"
#include "projects/depth/depth_names.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace residua::editor {
namespace {

using projects::Shortcut;

constexpr float kLargestCell = 4;  ///< in sizes of the text
constexpr float kGapFrom = 5;      ///< points of a cell from which cells have a gap
constexpr float kMarkedFrom = 3;   ///< points of a cell from which frozen and pruned cells are marked
constexpr double kMostCells = 4e5; ///< a larger file could not be used

class MatrixFigure {
public:
    MatrixFigure(const TopologyView& view, const MatrixScene& scene, const FigureStyle& style)
        : m_view(view),
          m_scene(scene),
          m_port(view.ports.empty() ? scene.ports().front() : view.ports.front().port),
          m_painter(style),
          m_fills({scene, view.weights, view.document.project, m_port, view.measure, resources::Theme::Light})
    {
        for (std::int64_t j = 1; j <= scene.size(); ++j) {
            m_axis = std::max(m_axis, m_painter.widthOf(moduleName(project(), j), m_painter.small()));
        }
        m_axis = std::max(m_axis, m_painter.widthOf(targetTitle(), m_painter.small())) + 3;
        // The number of the last column may be wider than its cells.
        m_beyond = m_painter.widthOf(entryName(project(), scene.columns() - 1), m_painter.small()) / 2;
        m_cell = std::min((m_painter.width() - m_axis - m_beyond) / static_cast<float>(scene.columns()),
                          kLargestCell * m_painter.text());
        m_left = m_axis + (m_painter.width() - m_axis - m_beyond - m_cell * static_cast<float>(scene.columns())) / 2;
        m_numbers = numbersFit();
    }

    /// True if the cells have a size beside the labels.
    [[nodiscard]] bool hasRoom() const { return m_cell > 0; }

    Figure draw() &&
    {
        for (std::int64_t j = 1; j <= m_scene.size(); ++j) {
            for (std::int64_t i = 0; i < m_scene.columns(); ++i) {
                drawCell({i, j});
            }
        }
        const float top = drawAxes();
        float bottom = rectOf({0, m_scene.size()}).bottom + 0.5F * m_painter.text();
        bottom = m_painter.legend(bottom, kinds());
        if (m_view.weights.has(m_view.measure)) {
            bottom = m_painter.scale(bottom, m_view.weights, m_view.measure);
        }
        return std::move(m_painter).finished(top, bottom);
    }

private:
    [[nodiscard]] const projects::Project& project() const { return m_view.document.project; }
    [[nodiscard]] static std::string targetTitle() { return translate("Canvas", "target j"); }
    [[nodiscard]] Rect rectOf(const Shortcut& shortcut) const
    {
        const Rect r = m_scene.rectOf(shortcut);
        const float scale = m_cell / MatrixScene::kCell;
        return {m_left + scale * r.left, scale * r.top, m_left + scale * r.right, scale * r.bottom};
    }
    [[nodiscard]] std::string numberAt(const Shortcut& shortcut) const
    {
        const auto weight = isRead(m_scene.cell(shortcut)) ? m_fills.weightOf(shortcut) : std::nullopt;
        return weight ? textOfValue(m_view.weights, *weight, m_view.measure) : std::string();
    }
    [[nodiscard]] bool numbersFit() const
    {
        if (m_cell < 2 * m_painter.small()) {
            return false;
        }
        for (std::int64_t j = 1; j <= m_scene.size(); ++j) {
            for (std::int64_t i = 0; i < m_scene.columns(); ++i) {
                if (m_painter.widthOf(numberAt({i, j}), m_painter.small()) > m_cell - 3) {
                    return false;
                }
            }
        }
        return true;
    }
    void drawCell(const Shortcut& shortcut);
    void drawMark(MatrixCell cell, const Rect& r);
    float drawAxes();
    [[nodiscard]] std::vector<LegendEntry> kinds() const;

    const TopologyView& m_view;
    const MatrixScene& m_scene;
    projects::MixPort m_port;
    FigurePainter m_painter;
    CellFills m_fills;
    float m_axis = 0;   ///< space left of the cells
    float m_beyond = 0; ///< space right of them
    float m_cell = 0;
    float m_left = 0;
    bool m_numbers = false;
};

void MatrixFigure::drawCell(const Shortcut& shortcut)
{
    const MatrixCell cell = m_scene.cell(shortcut);
    if (cell == MatrixCell::Outside) {
        return;
    }
    Rect r = rectOf(shortcut);
    const float gap = m_cell >= kGapFrom ? 0.25F : 0;
    r = {r.left + gap, r.top + gap, r.right - gap, r.bottom - gap};
    const bool filled = cell != MatrixCell::Empty && cell != MatrixCell::Pruned;
    FigureBox box{.rect = r};
    if (filled) {
        box.fill = FigureFill{m_fills.colourOf(shortcut), m_fills.opacityOf(shortcut)};
    } else if (m_cell >= kGapFrom) {
        box.pen = FigurePen{FigurePainter::colours().border, 0.4F};
    }
    if (box.fill || box.pen) {
        m_painter.add(std::move(box));
    }
    if (m_cell >= kMarkedFrom) {
        drawMark(cell, r);
    }
    if (m_numbers) {
        m_painter.write(r.centre(), numberAt(shortcut), m_painter.small(), inkOn(m_fills.colourOf(shortcut)));
    }
}

void MatrixFigure::drawMark(MatrixCell cell, const Rect& r)
{
    const resources::ThemeColours& c = FigurePainter::colours();
    const Point at = r.centre();
    const float arm = 0.2F * r.width();
    const float side = std::min(0.32F * r.width(), 0.6F * m_painter.text());
    switch (cell) {
    case MatrixCell::Pruned:
        m_painter.line({at.x - arm, at.y - arm}, {at.x + arm, at.y + arm}, {c.muted, 0.5F});
        m_painter.line({at.x - arm, at.y + arm}, {at.x + arm, at.y - arm}, {c.muted, 0.5F});
        break;
    case MatrixCell::Frozen:
        m_painter.add(FigurePath{.points = {{r.right - side, r.top}, {r.right, r.top}, {r.right, r.top + side}},
                                 .fill = FigureFill{c.text}});
        break;
    case MatrixCell::Outside:
    case MatrixCell::Empty:
    case MatrixCell::Summed:
    case MatrixCell::Fixed:
    case MatrixCell::Learned:
        break;
    }
}

// Returns the upper end of the titles.
float MatrixFigure::drawAxes()
{
    const resources::ThemeColours& c = FigurePainter::colours();
    const float size = m_painter.small();
    const std::int64_t newest = m_scene.columns() - 1;
    const float widest = m_painter.widthOf(entryName(project(), newest), size) + 2;
    const std::int64_t everyColumn = labelStep(widest / m_cell);
    for (std::int64_t i = 0; i <= newest; i += everyColumn) {
        m_painter.write({rectOf({i, 1}).centre().x, -0.8F * size}, entryName(project(), i), size, c.muted);
    }
    const std::int64_t last = m_scene.size();
    const std::int64_t everyRow = labelStep(1.15F * size / m_cell);
    for (std::int64_t j = 1; j <= last; ++j) {
        if (j == last || (j % everyRow == 0 && last - j >= everyRow)) {
            m_painter.write({m_left - 3, rectOf({0, j}).centre().y}, moduleName(project(), j), size, c.muted,
                            FigureAnchor::End);
        }
    }
    const std::string port(nameOf(m_port));
    const std::string source = translate("Canvas", "source i");
    const float middle = (rectOf({0, 1}).left + rectOf({newest, 1}).right) / 2;
    m_painter.write({middle, -2.2F * size}, port.empty() ? source : port + ": " + source, size, c.text);
    m_painter.write({m_left - 3, -0.8F * size}, targetTitle(), size, c.text, FigureAnchor::End);
    return -3 * size;
}

/// Returns the meaning of cells that the scale does not explain.
std::vector<LegendEntry> MatrixFigure::kinds() const
{
    bool summed = false;
    bool learned = false;
    bool fixed = false;
    for (std::int64_t j = 1; j <= m_scene.size(); ++j) {
        for (std::int64_t i = 0; i < m_scene.columns(); ++i) {
            const MatrixCell cell = m_scene.cell({i, j});
            const bool plain = !m_fills.weightOf({i, j});
            summed |= cell == MatrixCell::Summed;
            learned |= plain && (cell == MatrixCell::Learned || cell == MatrixCell::Frozen);
            fixed |= plain && cell == MatrixCell::Fixed;
        }
    }
    const auto entry = [&](resources::Rgb colour, double opacity, const char* word) {
        return LegendEntry{{}, FigureFill{colour, opacity}, translate("Canvas", word)};
    };
    std::vector<LegendEntry> entries;
    if (learned) {
        entries.push_back(entry(resources::curveColour(0, resources::Theme::Light), kUnknownAlpha, "learned weight"));
    }
    if (fixed) {
        entries.push_back(entry(FigurePainter::colours().muted, kUnknownAlpha, "fixed weight"));
    }
    if (summed) {
        entries.push_back(entry(FigurePainter::colours().muted, kSummedAlpha, "read without a weight of its own"));
    }
    return entries;
}

} // namespace

Result<Figure> matrixFigure(const TopologyView& view, const FigureStyle& style)
{
    MatrixScene scene;
    scene.rebuild(view.document.project);
    if (!scene.note().empty()) {
        return Error{"matrix", scene.note()};
    }
    if (const double cells = static_cast<double>(scene.size()) * static_cast<double>(scene.columns()) / 2;
        cells > kMostCells) {
        return Error{"matrix",
                     "got " + std::to_string(scene.size()) +
                         " readers, whose cells would make a file too large to be used; draw the canvas instead"};
    }
    MatrixFigure figure(view, scene, style);
    if (!figure.hasRoom()) {
        return Error{"matrix", "the labels of its rows are as wide as the figure; expected a wider figure, or smaller "
                               "text"};
    }
    return std::move(figure).draw();
}

} // namespace residua::editor
