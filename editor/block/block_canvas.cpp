// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/block/block_canvas.h"

#include "editor/block/block_editor_state.h"
#include "editor/block/block_paint.h"
#include "editor/block/block_wiring.h"
#include "editor/canvas/panned_view.h"
#include "editor/figures/scene_figures.h"
#include "editor/scenes/block_layout.h"
#include "editor/scenes/geometry.h"

#include <imgui.h>

#include <cmath>
#include <utility>

namespace residua::editor {
namespace {

using projects::GraphRef;
using projects::NodeId;
using projects::Wire;

constexpr float kFitMargin = 12;
constexpr float kFitMaxZoom = 1.2F;
constexpr float kBadgeZoom = 0.75F; ///< below it a node's texts may be omitted

class BlockCanvasView final : public BlockCanvas {
public:
    void setDocument(DocumentSnapshot document) override;
    void setState(const ViewState& state) override;
    void setLive(LiveSnapshot) override {}
    void show(Extent extent) override;
    bool giveUp() override;
    void draw(float width, float height, Theme theme) override;
    std::vector<Request> takeRequests() override { return m_state.takeRequests(); }
    std::optional<ScreenPoint> locate(const Target& target) const override;
    Result<Figure> figure(const FigureStyle& style, FigureWeights /*weights*/) const override
    {
        return blockFigure(m_state.scene(), style);
    }
    AskTyping typingPlace() const override { return askAt(m_view.inSight().centre()); }

    const BlockScene& scene() const override { return m_state.scene(); }
    projects::GraphView view() const override { return viewOf(scene(), m_view.inSight()); }
    projects::Position positionAt(ScreenPoint at) const override
    {
        return positionOf(viewport().toScene(Point{at.x, at.y}));
    }

private:
    enum class Gesture { None, Press, BoxSelect, Move, Connect };

    [[nodiscard]] const Viewport& viewport() const { return m_view.viewport(); }
    [[nodiscard]] ScreenPoint onScreen(Point scenePoint) const;
    [[nodiscard]] AskTyping askAt(Point sceneAt, const std::optional<projects::WireEnd>& end = {}) const;
    void handleKeys();
    void handlePointer();
    void beginGesture(Point pointer);
    void openMenu(Point pointer);
    bool beginDoubleClick(Point pointer);
    void continueGesture(Point pointer);
    void endGesture(Point pointer);
    void click();
    void selectBox(Point pointer);
    void finishConnect(Point pointer);
    void paint(Point pointer);
    [[nodiscard]] WirePreview wirePreview(Point pointer);

    BlockEditorState m_state;
    PannedView m_view;
    Theme m_theme = Theme::Light;

    Gesture m_gesture = Gesture::None;
    Point m_pressedAt;
    BlockHit m_pressed;
    BlockHit m_hover;
    Point m_moved;        ///< of the selected nodes so far
    BlockWiring m_wiring; ///< used by the gesture Connect
};

void BlockCanvasView::setDocument(DocumentSnapshot document)
{
    if (m_state.setDocument(std::move(document))) {
        m_gesture = Gesture::None;
        m_wiring.forgetChecks();
    }
}

void BlockCanvasView::setState(const ViewState& state)
{
    const GraphRef before = graph();
    m_state.setSelection(state.selection);
    if (graph() != before) {
        m_gesture = Gesture::None;
    }
}

void BlockCanvasView::show(Extent extent)
{
    if (extent == Extent::Everything) {
        m_view.fit();
    } else if (const auto area = m_state.selectedArea()) {
        m_view.zoomTo(*area, {.margin = 2 * kFitMargin});
    }
}

bool BlockCanvasView::giveUp()
{
    if (m_view.stopMoving()) {
        return true;
    }
    if (std::exchange(m_gesture, Gesture::None) == Gesture::None) {
        return false;
    }
    m_state.putBack();
    return true;
}

ScreenPoint BlockCanvasView::onScreen(Point scenePoint) const
{
    const Point at = viewport().toScreen(scenePoint);
    return {at.x, at.y};
}

AskTyping BlockCanvasView::askAt(Point sceneAt, const std::optional<projects::WireEnd>& end) const
{
    return {onScreen(sceneAt), {}, projects::NodeSpot{positionOf(sceneAt), end}};
}

void BlockCanvasView::draw(float width, float height, Theme theme)
{
    constexpr Framing kFraming{.margin = kFitMargin, .maxZoom = kFitMaxZoom};
    m_theme = theme;
    if (m_state.takeOpened()) {
        m_view.fit();
    }
    m_view.resize(width, height);
    if (m_view.fitSpace(kFraming)) {
        m_view.fitTo(scene().bounds(), kFraming);
    }
    if (!graph().empty()) {
        handleKeys();
        handlePointer();
    }
    paint(pointerPosition());
}

void BlockCanvasView::handleKeys()
{
    constexpr std::pair<ImGuiKey, Direction> kArrows[] = {{ImGuiKey_UpArrow, Direction::Up},
                                                          {ImGuiKey_DownArrow, Direction::Down},
                                                          {ImGuiKey_LeftArrow, Direction::Left},
                                                          {ImGuiKey_RightArrow, Direction::Right}};
    for (const auto& [key, direction] : kArrows) {
        if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(key))) {
            m_state.step(direction);
        }
    }
    if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Enter)) && !m_state.selection().nodes.empty()) {
        m_state.request(EditSelection{});
    }
}

void BlockCanvasView::handlePointer()
{
    const Point pointer = pointerPosition();
    const bool inside = pointerInside(m_view.width(), m_view.height());
    const auto left = ImGui::IsKeyDown(ImGui::GetKeyIndex(ImGuiKey_Space)) ? PannedView::LeftButton::Pans
                                                                           : PannedView::LeftButton::Free;
    if (m_gesture == Gesture::None && m_view.handlePointer(scene().bounds(), inside, left)) {
        m_hover = {};
        return;
    }
    m_hover = inside ? scene().hitTest(viewport().toScene(pointer), kPickTolerance / viewport().zoom()) : BlockHit{};
    if (m_hover.kind == BlockHit::Kind::Port) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    }
    if (m_gesture != Gesture::None) {
        continueGesture(pointer);
        if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
            endGesture(pointer);
        }
    } else if (inside && ImGui::IsMouseClicked(ImGuiMouseButton_Right)) {
        openMenu(pointer);
    } else if (inside) {
        beginGesture(pointer);
    }
}

/// Selects the thing under the pointer unless it is part of the selection, and asks for the menu.
void BlockCanvasView::openMenu(Point pointer)
{
    const bool node = m_hover.kind == BlockHit::Kind::Node || m_hover.kind == BlockHit::Kind::Port;
    const bool wire = m_hover.kind == BlockHit::Kind::Wire;
    const projects::Selection& selection = m_state.selection();
    if (!(node && selection.nodes.contains(m_hover.node)) && !(wire && selection.wires.contains(m_hover.wire))) {
        m_state.select(node ? std::set{m_hover.node} : std::set<NodeId>(),
                       wire ? std::set{m_hover.wire} : std::set<Wire>());
    }
    m_state.request(OpenMenu{{pointer.x, pointer.y}});
}

bool BlockCanvasView::beginDoubleClick(Point pointer)
{
    if (!ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
        return false;
    }
    if (m_hover.kind == BlockHit::Kind::Node) {
        m_state.select({m_hover.node});
        m_state.request(EditSelection{});
    } else if (m_hover.kind == BlockHit::Kind::Nothing) {
        m_state.request(askAt(viewport().toScene(pointer)));
    }
    return m_hover.kind == BlockHit::Kind::Node || m_hover.kind == BlockHit::Kind::Nothing;
}

void BlockCanvasView::beginGesture(Point pointer)
{
    if (beginDoubleClick(pointer) || !ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
        return;
    }
    m_pressedAt = pointer;
    m_pressed = m_hover;
    m_moved = {};
    m_gesture = Gesture::Press;
    if (m_hover.kind == BlockHit::Kind::Port) {
        m_gesture = Gesture::Connect;
        m_wiring.begin(scene(), m_hover);
    }
}

void BlockCanvasView::continueGesture(Point pointer)
{
    const bool moved = std::hypot(pointer.x - m_pressedAt.x, pointer.y - m_pressedAt.y) > kClickSlop;
    if (m_gesture == Gesture::Press && moved) {
        m_gesture = m_pressed.kind == BlockHit::Kind::Node ? Gesture::Move : Gesture::BoxSelect;
        if (m_gesture == Gesture::Move && !m_state.selection().nodes.contains(m_pressed.node)) {
            m_state.select({m_pressed.node});
        }
    }
    if (m_gesture == Gesture::Move) {
        const auto snapped = [this](float pixels) {
            return std::round(pixels / viewport().zoom() / kBlockGrid) * kBlockGrid;
        };
        const Point to{snapped(pointer.x - m_pressedAt.x), snapped(pointer.y - m_pressedAt.y)};
        if (to.x != m_moved.x || to.y != m_moved.y) {
            m_state.scene().shift(m_state.selection().nodes, {to.x - m_moved.x, to.y - m_moved.y});
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
            m_state.moveSelected();
        }
        break;
    case Gesture::Connect:
        finishConnect(pointer);
        break;
    case Gesture::None:
        break;
    }
}

void BlockCanvasView::click()
{
    const bool additive = ImGui::GetIO().KeyShift || ImGui::GetIO().KeyCtrl;
    std::set<NodeId> nodes = additive ? m_state.selection().nodes : std::set<NodeId>{};
    std::set<Wire> wires = additive ? m_state.selection().wires : std::set<Wire>{};
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
    m_state.select(std::move(nodes), std::move(wires));
}

void BlockCanvasView::selectBox(Point pointer)
{
    const Rect area = rectBetween(viewport().toScene(m_pressedAt), viewport().toScene(pointer));
    const bool additive = ImGui::GetIO().KeyShift || ImGui::GetIO().KeyCtrl;
    std::set<NodeId> nodes = additive ? m_state.selection().nodes : std::set<NodeId>{};
    std::set<Wire> wires = additive ? m_state.selection().wires : std::set<Wire>{};
    for (const NodeId id : scene().nodesIn(area)) {
        nodes.insert(id);
    }
    for (const Wire& wire : scene().wiresIn(area)) {
        wires.insert(wire);
    }
    m_state.select(std::move(nodes), std::move(wires));
}

void BlockCanvasView::finishConnect(Point pointer)
{
    if (const auto wire = m_wiring.over(m_state.project(), graph(), m_hover)) {
        if (m_wiring.check(m_state.project(), graph(), *wire).possible) {
            m_state.request(RequestEdit{connectWire(m_state.document(), *wire, m_wiring.lifted(), viewOf(scene()))});
        }
    } else if (m_hover.kind == BlockHit::Kind::Nothing || m_hover.kind == BlockHit::Kind::Wire) {
        if (m_wiring.lifted()) {
            m_state.request(RequestEdit{removeWire(m_state.document(), *m_wiring.lifted(), viewOf(scene()))});
        } else {
            m_state.request(askAt(viewport().toScene(pointer), m_wiring.fixed()));
        }
    }
}

WirePreview BlockCanvasView::wirePreview(Point pointer)
{
    const auto wire = m_wiring.over(m_state.project(), graph(), m_hover);
    const BlockPort* fixed = scene().port(m_wiring.fixed().port, m_wiring.fixed().side);
    WirePreview preview{viewport().toScreen(fixed->at), pointer, m_wiring.title(scene(), wire), std::nullopt};
    if (wire) {
        preview.check = m_wiring.check(m_state.project(), graph(), *wire);
    }
    return preview;
}

void BlockCanvasView::paint(Point pointer)
{
    const bool connecting = m_gesture == Gesture::Connect;
    const BlockPicture picture{scene(),
                               viewport(),
                               m_state.selection(),
                               m_hover,
                               connecting ? std::optional(m_wiring.wanted()) : std::nullopt,
                               connecting ? m_wiring.lifted() : std::nullopt,
                               m_theme,
                               m_view.width(),
                               m_view.height()};
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    paintBlock(list, picture);
    if (const auto map = m_view.minimap(scene().bounds())) {
        paintBlockMap(list, picture, *map);
    }
    if (connecting) {
        paintWirePreview(list, picture, wirePreview(pointer));
    } else if (m_gesture == Gesture::BoxSelect) {
        paintBlockBox(list, picture, rectBetween(m_pressedAt, pointer));
    } else if (m_gesture == Gesture::None && (m_hover.kind != BlockHit::Kind::Node || viewport().zoom() < kBadgeZoom)) {
        paintBlockBadge(list, picture, pointer);
    }
}

std::optional<ScreenPoint> BlockCanvasView::locate(const Target& target) const
{
    if (const auto* id = std::get_if<NodeId>(&target)) {
        const BlockNode* node = scene().node(*id);
        return node == nullptr ? std::nullopt : std::optional(onScreen(node->rect.centre()));
    }
    const auto* wanted = std::get_if<PortTarget>(&target);
    const BlockPort* port = wanted != nullptr ? scene().port(wanted->port, wanted->side) : nullptr;
    return port == nullptr ? std::nullopt : std::optional(onScreen(port->at));
}

} // namespace

std::unique_ptr<BlockCanvas> makeBlockCanvas()
{
    return std::make_unique<BlockCanvasView>();
}

} // namespace residua::editor
