// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/block/block_canvas.h"

#include "editor/block/block_desk.h"
#include "editor/block/block_layout.h"
#include "editor/block/block_paint.h"
#include "editor/block/block_wiring.h"
#include "editor/canvas/minimap.h"
#include "editor/canvas/viewport.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::editor {
namespace {

using projects::GraphRef;
using projects::NodeId;
using projects::PortRef;
using projects::Wire;

constexpr float kPickTolerance = 6; ///< screen pixels
constexpr float kFitMargin = 12;
constexpr float kFitMaxZoom = 1.2F;
constexpr float kClickSlop = 4; ///< a press that moves less is a click
constexpr float kWheelStep = 1.15F;
constexpr float kBadgeZoom = 0.75F; ///< below it a node's words may not be there to be read

bool pressed(ImGuiKey key)
{
    return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key));
}

Rect spanning(Point a, Point b)
{
    return {std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)};
}

class BlockCanvasView final : public BlockCanvas {
public:
    void setDocument(const projects::Document& document) override;
    void setTheme(Theme theme) override { m_theme = theme; }
    void setSelection(const projects::Selection& selection) override;
    void setHovered(std::optional<projects::Shortcut>) override {}
    void setLive(const LiveValues&) override {}
    using BlockCanvas::clearLive;
    void clearLive() override {}
    void fit() override { m_fitted = m_fitDue = true; }
    void zoomToSelection() override;
    void deleteSelection() override { m_desk.remove(); }
    void toggleFrozen() override {}
    void selectAll() override { m_desk.selectAll(); }
    void cancel() override;
    std::string copied() const override { return m_desk.copied(); }
    Status paste(std::string_view text) override { return m_desk.paste(text, seen()); }
    void duplicateSelection() override { m_desk.duplicate(seen()); }
    void tidy() override;
    void askTyping() override { ask(seen().centre(), std::nullopt); }
    projects::TypedAnswer typing(std::string_view text) const override;
    void enter(std::string_view text) override;
    void draw(float width, float height, float devicePixelRatio) override;
    std::vector<Request> takeRequests() override { return m_desk.takeRequests(); }
    bool animating() const override { return false; }
    std::optional<ScreenPoint> locate(std::int64_t, Spot) const override { return std::nullopt; }
    std::optional<ScreenPoint> locate(const projects::Shortcut&) const override { return std::nullopt; }

    const GraphRef& graph() const override { return m_desk.ref(); }
    void addNode(const std::string& kind, std::optional<ScreenPoint> at) override;
    void align(projects::Alignment alignment) override { m_desk.align(alignment); }
    std::optional<ScreenPoint> locateNode(NodeId node) const override;
    std::optional<ScreenPoint> locatePort(const PortRef& port, projects::PortSide side) const override;

private:
    enum class Gesture { None, Press, Pan, Map, BoxSelect, Move, Connect };

    [[nodiscard]] const BlockScene& scene() const { return m_desk.scene(); }
    [[nodiscard]] Rect seen() const { return m_view.visible(m_width, m_height); }
    [[nodiscard]] std::optional<Minimap> minimap() const
    {
        return layoutMinimap(scene().bounds(), m_view, m_width, m_height);
    }
    void lookAt(Point onMinimap);
    void ask(Point sceneAt, std::optional<projects::WireEnd> end);
    void handleKeys();
    void handlePointer();
    void beginGesture(Point pointer);
    bool beginDoubleClick(Point pointer);
    void continueGesture(Point pointer);
    void endGesture(Point pointer);
    void click();
    void selectBox(Point pointer);
    void finishConnect(Point pointer);
    void paint(Point pointer);
    [[nodiscard]] WirePreview wirePreview(Point pointer);

    BlockDesk m_desk;
    Viewport m_view;
    Theme m_theme = Theme::Light;

    Gesture m_gesture = Gesture::None;
    Point m_pressedAt;
    BlockHit m_pressed;
    BlockHit m_hover;
    Point m_moved;                             ///< of the selected nodes, so far
    BlockWiring m_wiring;                      ///< while Connect
    Point m_addAt;                             ///< centre of the node that is being typed
    std::optional<projects::WireEnd> m_addEnd; ///< and what it is to be wired to
    float m_width = 0;
    float m_height = 0;
    bool m_fitted = true; ///< shows everything when the canvas changes, until a person moves the view
    bool m_fitDue = true;
};

void BlockCanvasView::setDocument(const projects::Document& document)
{
    if (m_desk.setDocument(document)) {
        m_gesture = Gesture::None;
        m_wiring.forgetChecks();
    }
}

void BlockCanvasView::setSelection(const projects::Selection& selection)
{
    const GraphRef before = graph();
    m_desk.setSelection(selection);
    if (graph() != before) {
        m_gesture = Gesture::None;
    }
}

void BlockCanvasView::zoomToSelection()
{
    if (const auto area = m_desk.selectedArea()) {
        m_fitted = m_fitDue = false;
        m_view.fit(*area, m_width, m_height, 2 * kFitMargin, 2.0F);
    }
}

void BlockCanvasView::cancel()
{
    const projects::Selection& selection = m_desk.selection();
    if (m_gesture != Gesture::None) {
        m_gesture = Gesture::None;
        m_desk.putBack();
    } else if (!selection.nodes.empty() || !selection.wires.empty()) {
        m_desk.select({});
    } else {
        m_desk.request(LeaveBlock{});
    }
}

void BlockCanvasView::tidy()
{
    m_desk.tidy();
    fit();
}

void BlockCanvasView::lookAt(Point onMinimap)
{
    if (const auto map = minimap()) {
        const Point wanted = m_view.toScreen(map->toScene(onMinimap, scene().bounds()));
        m_view.panBy(m_width / 2 - wanted.x, m_height / 2 - wanted.y);
        m_fitted = false;
    }
}

void BlockCanvasView::ask(Point sceneAt, std::optional<projects::WireEnd> end)
{
    m_addAt = sceneAt;
    m_addEnd = std::move(end);
    const Point at = m_view.toScreen(sceneAt);
    m_desk.request(AskTyping{{at.x, at.y}, {}});
}

projects::TypedAnswer BlockCanvasView::typing(std::string_view text) const
{
    return projects::typedNode(m_desk.document(), text, {positionOf(m_addAt), m_addEnd}, m_desk.view()).answer;
}

void BlockCanvasView::enter(std::string_view text)
{
    const auto typed = projects::typedNode(m_desk.document(), text, {positionOf(m_addAt), m_addEnd}, m_desk.view());
    if (typed.change) {
        m_fitted = false;
        m_desk.perform(*typed.change);
    }
    m_addEnd.reset();
}

void BlockCanvasView::addNode(const std::string& kind, std::optional<ScreenPoint> at)
{
    m_fitted = false;
    m_desk.add({.kind = kind, .title = {}, .summary = {}}, at ? m_view.toScene(Point{at->x, at->y}) : seen().centre(),
               std::nullopt);
}

void BlockCanvasView::draw(float width, float height, float)
{
    if (m_desk.takeOpened()) {
        fit();
    }
    m_fitDue = m_fitDue || (m_fitted && (width != m_width || height != m_height));
    m_width = width;
    m_height = height;
    if (m_fitDue && width > 4 * kFitMargin && height > 4 * kFitMargin) {
        m_view.fit(scene().bounds(), width, height, kFitMargin, kFitMaxZoom);
        m_fitDue = false;
    }
    if (!graph().empty()) {
        handleKeys();
        handlePointer();
    }
    const ImVec2 p = ImGui::GetIO().MousePos;
    paint({p.x, p.y});
}

void BlockCanvasView::handleKeys()
{
    constexpr std::pair<ImGuiKey, Direction> kArrows[] = {{ImGuiKey_UpArrow, Direction::Up},
                                                          {ImGuiKey_DownArrow, Direction::Down},
                                                          {ImGuiKey_LeftArrow, Direction::Left},
                                                          {ImGuiKey_RightArrow, Direction::Right}};
    for (const auto& [key, direction] : kArrows) {
        if (pressed(key)) {
            m_desk.step(direction);
        }
    }
    if (pressed(ImGuiKey_Enter) && !m_desk.selection().nodes.empty()) {
        m_desk.request(EditSelection{});
    }
}

void BlockCanvasView::handlePointer()
{
    const ImGuiIO& io = ImGui::GetIO();
    const Point pointer{io.MousePos.x, io.MousePos.y};
    const bool inside =
        ImGui::IsMousePosValid() && pointer.x >= 0 && pointer.y >= 0 && pointer.x < m_width && pointer.y < m_height;
    m_hover = inside ? scene().hitTest(m_view.toScene(pointer), kPickTolerance / m_view.zoom()) : BlockHit{};
    if (m_hover.kind == BlockHit::Kind::Port) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    }
    if (m_gesture != Gesture::None) {
        continueGesture(pointer);
        if (!ImGui::IsMouseDown(ImGuiMouseButton_Left) && !ImGui::IsMouseDown(ImGuiMouseButton_Middle)) {
            endGesture(pointer);
        }
    } else if (inside) {
        if (io.MouseWheel != 0 || io.MouseWheelH != 0) {
            m_fitted = false;
            m_view.zoomAt(pointer, std::pow(kWheelStep, io.MouseWheel));
            m_view.panBy(io.MouseWheelH * 40, 0);
        }
        beginGesture(pointer);
    }
}

bool BlockCanvasView::beginDoubleClick(Point pointer)
{
    if (!ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
        return false;
    }
    if (m_hover.kind == BlockHit::Kind::Node) {
        m_desk.select({m_hover.node});
        m_desk.request(EditSelection{});
    } else if (m_hover.kind == BlockHit::Kind::Nothing) {
        ask(m_view.toScene(pointer), std::nullopt);
    }
    return m_hover.kind == BlockHit::Kind::Node || m_hover.kind == BlockHit::Kind::Nothing;
}

void BlockCanvasView::beginGesture(Point pointer)
{
    const bool left = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
    const bool middle = ImGui::IsMouseClicked(ImGuiMouseButton_Middle);
    if (const auto map = minimap(); map && map->panel.contains(pointer)) { // what lies under it is out of reach
        if (left) {
            m_gesture = Gesture::Map;
            lookAt(pointer);
        }
        return;
    }
    if (beginDoubleClick(pointer) || (!left && !middle)) {
        return;
    }
    m_pressedAt = pointer;
    m_pressed = m_hover;
    m_moved = {};
    if (middle || ImGui::IsKeyDown(ImGui::GetKeyIndex(ImGuiKey_Space))) {
        m_gesture = Gesture::Pan;
    } else if (m_hover.kind == BlockHit::Kind::Port) {
        m_gesture = Gesture::Connect;
        m_wiring.begin(scene(), m_hover);
    } else {
        m_gesture = Gesture::Press;
    }
}

void BlockCanvasView::continueGesture(Point pointer)
{
    const bool moved = std::hypot(pointer.x - m_pressedAt.x, pointer.y - m_pressedAt.y) > kClickSlop;
    if (m_gesture == Gesture::Press && moved) {
        m_gesture = m_pressed.kind == BlockHit::Kind::Node ? Gesture::Move : Gesture::BoxSelect;
        if (m_gesture == Gesture::Move && !m_desk.selection().nodes.contains(m_pressed.node)) {
            m_desk.select({m_pressed.node});
        }
    }
    if (m_gesture == Gesture::Map) {
        lookAt(pointer);
    } else if (m_gesture == Gesture::Pan) {
        const ImVec2 delta = ImGui::GetIO().MouseDelta;
        m_fitted = false;
        m_view.panBy(delta.x, delta.y);
    } else if (m_gesture == Gesture::Move) {
        const auto snapped = [this](float pixels) {
            return std::round(pixels / m_view.zoom() / kBlockGrid) * kBlockGrid;
        };
        const Point to{snapped(pointer.x - m_pressedAt.x), snapped(pointer.y - m_pressedAt.y)};
        if (to.x != m_moved.x || to.y != m_moved.y) {
            m_desk.scene().shift(m_desk.selection().nodes, {to.x - m_moved.x, to.y - m_moved.y});
            m_moved = to;
        }
    }
}

void BlockCanvasView::endGesture(Point pointer)
{
    switch (std::exchange(m_gesture, Gesture::None)) {
    case Gesture::Press:
        click();
        break;
    case Gesture::BoxSelect:
        selectBox(pointer);
        break;
    case Gesture::Move:
        if (m_moved.x != 0 || m_moved.y != 0) {
            m_fitted = false;
            m_desk.moveSelected();
        }
        break;
    case Gesture::Connect:
        finishConnect(pointer);
        break;
    case Gesture::Pan:
    case Gesture::Map:
    case Gesture::None:
        break;
    }
}

void BlockCanvasView::click()
{
    const bool additive = ImGui::GetIO().KeyShift || ImGui::GetIO().KeyCtrl;
    std::set<NodeId> nodes = additive ? m_desk.selection().nodes : std::set<NodeId>{};
    std::set<Wire> wires = additive ? m_desk.selection().wires : std::set<Wire>{};
    const auto toggle = [](auto& set, const auto& value) {
        if (!set.insert(value).second) {
            set.erase(value);
        }
    };
    if (m_pressed.kind == BlockHit::Kind::Node) {
        toggle(nodes, m_pressed.node);
    } else if (m_pressed.kind == BlockHit::Kind::Wire) {
        toggle(wires, m_pressed.wire);
    }
    m_desk.select(std::move(nodes), std::move(wires));
}

void BlockCanvasView::selectBox(Point pointer)
{
    const Rect area = spanning(m_view.toScene(m_pressedAt), m_view.toScene(pointer));
    const bool additive = ImGui::GetIO().KeyShift || ImGui::GetIO().KeyCtrl;
    std::set<NodeId> nodes = additive ? m_desk.selection().nodes : std::set<NodeId>{};
    std::set<Wire> wires = additive ? m_desk.selection().wires : std::set<Wire>{};
    for (const NodeId id : scene().nodesIn(area)) {
        nodes.insert(id);
    }
    for (const Wire& wire : scene().wiresIn(area)) {
        wires.insert(wire);
    }
    m_desk.select(std::move(nodes), std::move(wires));
}

void BlockCanvasView::finishConnect(Point pointer)
{
    if (const auto wire = m_wiring.over(scene(), m_hover)) {
        if (m_wiring.check(m_desk.project(), graph(), *wire).possible) {
            m_fitted = false;
            m_desk.connect(*wire, m_wiring.lifted());
        }
    } else if (m_hover.kind == BlockHit::Kind::Nothing || m_hover.kind == BlockHit::Kind::Wire) {
        if (m_wiring.lifted()) {
            m_desk.takeOut(*m_wiring.lifted());
        } else {
            ask(m_view.toScene(pointer), m_wiring.fixed());
        }
    }
}

WirePreview BlockCanvasView::wirePreview(Point pointer)
{
    const auto wire = m_wiring.over(scene(), m_hover);
    const BlockPort* fixed = scene().port(m_wiring.fixed().port, m_wiring.fixed().side);
    WirePreview preview{m_view.toScreen(fixed->at), pointer, m_wiring.title(scene(), wire), std::nullopt};
    if (wire) {
        preview.check = m_wiring.check(m_desk.project(), graph(), *wire);
    }
    return preview;
}

void BlockCanvasView::paint(Point pointer)
{
    const bool connecting = m_gesture == Gesture::Connect;
    const BlockPicture picture{scene(),
                               m_view,
                               m_desk.selection(),
                               m_hover,
                               connecting ? std::optional(m_wiring.wanted()) : std::nullopt,
                               connecting ? m_wiring.lifted() : std::nullopt,
                               m_theme,
                               m_width,
                               m_height};
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    paintBlock(list, picture);
    if (const auto map = minimap()) {
        paintBlockMap(list, picture, *map);
    }
    if (connecting) {
        paintWirePreview(list, picture, wirePreview(pointer));
    } else if (m_gesture == Gesture::BoxSelect) {
        paintBlockBox(list, picture, spanning(m_pressedAt, pointer));
    } else if (m_gesture == Gesture::None && (m_hover.kind != BlockHit::Kind::Node || m_view.zoom() < kBadgeZoom)) {
        paintBlockBadge(list, picture, pointer);
    }
}

std::optional<ScreenPoint> BlockCanvasView::locateNode(NodeId id) const
{
    const BlockNode* node = scene().node(id);
    if (node == nullptr) {
        return std::nullopt;
    }
    const Point p = m_view.toScreen(node->rect.centre());
    return ScreenPoint{p.x, p.y};
}

std::optional<ScreenPoint> BlockCanvasView::locatePort(const PortRef& ref, projects::PortSide side) const
{
    const BlockPort* port = scene().port(ref, side);
    if (port == nullptr) {
        return std::nullopt;
    }
    const Point p = m_view.toScreen(port->at);
    return ScreenPoint{p.x, p.y};
}

} // namespace

std::unique_ptr<BlockCanvas> makeBlockCanvas()
{
    return std::make_unique<BlockCanvasView>();
}

} // namespace residua::editor
