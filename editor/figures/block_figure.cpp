// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/figures/figure_painter.h"
#include "editor/figures/scene_figures.h"
#include "editor/scenes/block_labels.h"
#include "editor/scenes/block_scene.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::editor {
namespace {

constexpr float kCanvasText = 13;  ///< size of names on the canvas, in scene units
constexpr float kNodeText = 15;    ///< largest size of names in a graph that was scaled down, in scene units
constexpr float kLeastText = 0.7F; ///< of names, in sizes of the figure's text
constexpr float kWireCorner = 6;   ///< scene units
constexpr float kBlockMargin = 2;  ///< points around the graph
constexpr float kNodeRadius = 6;   ///< scene units
constexpr float kStripeWidth = 4;  ///< scene units, in the colour of the kind
constexpr float kNodePadding = 10; ///< scene units

class BlockFigure {
public:
    BlockFigure(const BlockScene& scene, const FigureStyle& style) : m_scene(scene), m_painter(style)
    {
        const Rect all = scene.bounds();
        const float scale =
            std::min((m_painter.width() - 2 * kBlockMargin) / all.width(), m_painter.text() / kCanvasText);
        m_view.zoomAt({0, 0}, scale);
        m_size = std::clamp(kNodeText * scale, kLeastText * m_painter.text(), m_painter.text());
        m_view.panBy((m_painter.width() - scale * (all.left + all.right)) / 2, 0);
    }

    Figure draw() &&
    {
        for (const BlockWire& wire : m_scene.wires()) {
            drawWire(wire);
        }
        for (const BlockNode& node : m_scene.nodes()) {
            drawNode(node);
        }
        BlockLabels labels(m_scene, m_view);
        for (const BlockWire& wire : m_scene.wires()) {
            drawShape(wire, labels);
        }
        const Rect all = m_view.rectToScreen(m_scene.bounds());
        return std::move(m_painter).finished(all.top - m_painter.text(), all.bottom + m_painter.text());
    }

private:
    [[nodiscard]] float scale() const { return m_view.zoom(); }
    [[nodiscard]] float smallSize() const { return 0.8F * m_size; }
    [[nodiscard]] float pixel() const { return m_painter.pixel(); }

    [[nodiscard]] std::string nameOf(const projects::PortRef& port) const
    {
        const BlockNode* const node = m_scene.node(port.node);
        return (node != nullptr ? node->name : "?") + ("." + port.port);
    }
    void drawWire(const BlockWire& wire);
    void drawNode(const BlockNode& node);
    void drawWords(const BlockNode& node, const Rect& r);
    void drawPorts(const std::vector<BlockPort>& ports, bool named);
    void drawShape(const BlockWire& wire, BlockLabels& labels);

    const BlockScene& m_scene;
    FigurePainter m_painter;
    Viewport m_view;
    float m_size = 0; ///< of names
};

// A corner of the path is a cubic curve whose control points are both at the corner.
void BlockFigure::drawWire(const BlockWire& wire)
{
    FigurePath path{.points = {},
                    .kind = FigurePath::Kind::Curves,
                    .pen = FigurePen{FigurePainter::colours().muted, 1.7F * pixel()},
                    .name = nameOf(wire.wire.from) + " > " + nameOf(wire.wire.to)};
    const auto on = [this](Point p) { return m_view.toScreen(p); };
    const auto straight = [&path](Point to) {
        const Point from = path.points.back();
        path.points.insert(path.points.end(), {from, to, to});
    };
    path.points.push_back(on(wire.path.front()));
    for (std::size_t i = 1; i + 1 < wire.path.size(); ++i) {
        const Point corner = wire.path[i];
        const auto towards = [&](Point other) {
            const float length = std::hypot(other.x - corner.x, other.y - corner.y);
            const float part = std::min(kWireCorner, length / 2) / std::max(length, 1e-3F);
            return on({corner.x + (other.x - corner.x) * part, corner.y + (other.y - corner.y) * part});
        };
        straight(towards(wire.path[i - 1]));
        path.points.insert(path.points.end(), {on(corner), on(corner), towards(wire.path[i + 1])});
    }
    straight(on(wire.path.back()));
    m_painter.add(std::move(path));
}

void BlockFigure::drawNode(const BlockNode& node)
{
    const resources::Rgb colour = resources::curveColour(node.category, resources::Theme::Light);
    const Rect r = m_view.rectToScreen(node.rect);
    const float radius = kNodeRadius * scale();
    const FigurePen pen{node.error.empty() ? FigurePainter::colours().muted : FigurePainter::colours().error,
                        1.2F * pixel()};
    m_painter.add(FigureBox{r, radius, {}, FigureFill{{255, 255, 255}}});
    m_painter.add(FigureBox{r, radius, pen, FigureFill{colour, 0.07}});
    const float stripe = kStripeWidth * scale();
    m_painter.add(FigureBox{{r.left + stripe / 2, r.top + radius, r.left + 1.5F * stripe, r.bottom - radius},
                            0,
                            {},
                            FigureFill{colour, 0.9}});
    drawWords(node, r);
    drawPorts(node.inputs, node.namedPorts);
    drawPorts(node.outputs, false);
}

void BlockFigure::drawWords(const BlockNode& node, const Rect& r)
{
    const resources::ThemeColours& c = FigurePainter::colours();
    const float size = m_size;
    const float small = smallSize();
    // The ports' names are at the lower edge.
    const float named = node.namedPorts ? BlockScene::kPortRadius * scale() + 0.9F * small : 0;
    const float left = r.left + (kStripeWidth + kNodePadding - 2) * scale();
    const float right = r.right - kNodePadding * scale();
    const float middle = (r.top + r.bottom - named) / 2;
    const std::string second =
        node.form == BlockNode::Form::Card && !node.detail.empty() ? node.kind + "  " + node.detail : node.kind;
    const bool tall = r.height() - named >= size + small + 2;
    const std::string& beside = node.form == BlockNode::Form::Card && tall ? node.weights : node.kind;
    const float gap = beside.empty() ? 0 : m_painter.widthOf(beside, small) + 0.6F * size;
    const bool fits = m_painter.widthOf(node.name, size) + gap <= right - left;
    const bool repeats = beside == node.name;
    const float first = node.form == BlockNode::Form::Card && tall ? middle - 0.6F * small - 0.5F : middle;
    m_painter.write({left, first}, m_painter.elided(node.name, size, right - left), size, c.text, FigureAnchor::Start);
    if (fits && !repeats) {
        m_painter.write({right, first}, beside, small, c.muted, FigureAnchor::End);
    }
    if (node.form == BlockNode::Form::Card && tall) {
        m_painter.write({left, middle + 0.6F * size + 0.5F}, m_painter.elided(second, small, right - left), small,
                        c.muted, FigureAnchor::Start);
    }
}

void BlockFigure::drawPorts(const std::vector<BlockPort>& ports, bool named)
{
    const float half = BlockScene::kPortRadius * scale();
    for (const BlockPort& port : ports) {
        if (port.state == BlockPort::State::Spare) {
            continue; // for further wires, which a page cannot get
        }
        const Point at = m_view.toScreen(port.at);
        const bool wired = port.state == BlockPort::State::Wired;
        m_painter.add(FigureBox{{at.x - half, at.y - half, at.x + half, at.y + half},
                                half,
                                FigurePen{FigurePainter::colours().muted, pixel()},
                                FigureFill{wired ? FigurePainter::colours().muted : resources::Rgb{255, 255, 255}}});
        if (named) {
            m_painter.write({at.x, at.y - half - 0.5F * smallSize()}, port.name, 0.9F * smallSize(),
                            FigurePainter::colours().muted);
        }
    }
}

void BlockFigure::drawShape(const BlockWire& wire, BlockLabels& labels)
{
    if (!wire.labelled || wire.shape.empty()) {
        return;
    }
    const float size = smallSize();
    const float width = m_painter.widthOf(wire.shape, size) + 2;
    if (const auto plate = labels.claim(labelPlaces(m_view, wire.path, width, size), BlockLabels::Wires::Avoid)) {
        m_painter.write({plate->left + 1, (plate->top + plate->bottom) / 2}, wire.shape, size,
                        FigurePainter::colours().muted, FigureAnchor::Start);
    }
}

} // namespace

Result<Figure> blockFigure(const BlockScene& scene, const FigureStyle& style)
{
    if (scene.nodes().empty()) {
        return Error{textOf(scene.graph()), "has no nodes to draw"};
    }
    return BlockFigure(scene, style).draw();
}

Result<Figure> blockFigure(const projects::Document& document, const projects::GraphRef& graph,
                           const FigureStyle& style)
{
    if (findGraph(document.project, graph) == nullptr) {
        return Error{textOf(graph), "there is no such graph in the project"};
    }
    BlockScene scene;
    scene.rebuild(document, graph);
    return blockFigure(scene, style);
}

} // namespace residua::editor
