// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/depth_canvas.h"

#include "editor/depth_paint.h"
#include "editor/depth_scene.h"
#include "editor/live_weights.h"
#include "editor/shortcuts.h"
#include "editor/viewport.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace residua::editor {
namespace {

using projects::Shortcut;

constexpr float kPickTolerance = 6; ///< screen pixels
constexpr float kFitMargin = 48;
constexpr float kFitMaxZoom = 1.3F;
constexpr float kClickSlop = 4; ///< a press that moves less is a click
constexpr float kWheelStep = 1.15F;

class DepthCanvas final : public Canvas {
public:
    void setDocument(const projects::Document& document) override;
    void setTheme(Theme theme) override { m_theme = theme; }
    void setSelection(const Selection& selection) override { m_selection = selection; }
    void setHovered(std::optional<Shortcut> shortcut) override { m_hoveredElsewhere = shortcut; }
    void setLive(const LiveValues& live) override { m_weights.take(live, m_project); }
    void clearLive() override { m_weights.clear(); }
    void fit() override { m_fitted = true; }
    void zoomToSelection() override;
    void deleteSelection() override;
    void toggleFrozen() override;
    void selectAll() override;
    void cancel() override;
    void draw(float width, float height, float devicePixelRatio) override;
    std::vector<Request> takeRequests() override { return std::exchange(m_requests, {}); }
    bool animating() const override { return false; }
    std::optional<ScreenPoint> locate(std::int64_t layer, Spot spot) const override;
    std::optional<ScreenPoint> locate(const Shortcut& shortcut) const override;

private:
    enum class Gesture { None, Press, Pan, BoxSelect, Connect };

    void handlePointer();
    void updateHover(Point pointer);
    void beginGesture(Point pointer);
    void continueGesture(Point pointer);
    void endGesture(Point pointer);
    void click(const Hit& hit);
    void finishConnect();
    void selectBox(Point pointer);
    void select(Selection selection);
    [[nodiscard]] DragPreview dragPreview(Point pointer) const;
    [[nodiscard]] std::vector<Shortcut> selectedShortcuts() const;
    [[nodiscard]] Point pointerOnScreen() const;

    projects::Project m_project;
    DepthScene m_scene;
    Viewport m_view;
    Selection m_selection;
    LiveWeights m_weights;
    Theme m_theme = Theme::Light;
    std::vector<Request> m_requests;

    Gesture m_gesture = Gesture::None;
    Point m_pressedAt;
    Hit m_hover;
    std::optional<Shortcut> m_hoveredElsewhere;
    std::optional<Shortcut> m_announcedHover;
    Hit m_pressed;
    float m_width = 0;
    float m_height = 0;
    bool m_fitted =
        true; ///< the view shows everything, also when the canvas or the stack changes, until a person moves it
};

void DepthCanvas::setDocument(const projects::Document& document)
{
    const bool otherDepth = document.project.network.depth() != m_project.network.depth();
    const bool otherWiring = document.project.topology != m_project.topology || otherDepth;
    m_project = document.project;
    m_scene.rebuild(m_project);
    m_fitted = m_fitted || otherDepth;
    if (otherWiring) {
        clearLive();
    }
}

void DepthCanvas::zoomToSelection()
{
    Rect area{std::numeric_limits<float>::max(), std::numeric_limits<float>::max(),
              std::numeric_limits<float>::lowest(), std::numeric_limits<float>::lowest()};
    const auto include = [&area](const Rect& r) {
        area = {std::min(area.left, r.left), std::min(area.top, r.top), std::max(area.right, r.right),
                std::max(area.bottom, r.bottom)};
    };
    for (const std::int64_t layer : m_selection.layers) {
        if (const LayerBox* box = m_scene.box(layer)) {
            include(box->rect);
        }
    }
    for (const Shortcut& shortcut : m_selection.shortcuts) {
        if (const Arc* arc = m_scene.arc(shortcut)) {
            include({arc->left, -arc->height, arc->right, DepthScene::kBoxHeight});
        }
    }
    if (area.left <= area.right) {
        m_fitted = false;
        m_view.fit(area, m_width, m_height, kFitMargin, 2.0F);
    }
}

std::vector<Shortcut> DepthCanvas::selectedShortcuts() const
{
    std::vector<Shortcut> shortcuts;
    for (const Shortcut& shortcut : m_selection.shortcuts) {
        const Arc* arc = m_scene.arc(shortcut);
        if (arc != nullptr && arc->kind != ShortcutKind::Stream) {
            shortcuts.push_back(shortcut);
        }
    }
    return shortcuts;
}

void DepthCanvas::deleteSelection()
{
    if (auto edit = pruneEdit(m_project, selectedShortcuts())) {
        m_requests.emplace_back(RequestEdit{*std::move(edit)});
        select({});
    }
}

void DepthCanvas::toggleFrozen()
{
    if (auto edit = freezeEdit(m_project, selectedShortcuts())) {
        m_requests.emplace_back(RequestEdit{*std::move(edit)});
    }
}

void DepthCanvas::selectAll()
{
    Selection all;
    for (const LayerBox& box : m_scene.boxes()) {
        all.layers.insert(box.layer);
    }
    for (const Arc& arc : m_scene.arcs()) {
        all.shortcuts.insert(arc.shortcut);
    }
    select(std::move(all));
}

void DepthCanvas::cancel()
{
    if (m_gesture != Gesture::None) {
        m_gesture = Gesture::None;
    } else {
        select({});
    }
}

void DepthCanvas::select(Selection selection)
{
    if (selection != m_selection) {
        m_selection = std::move(selection);
        m_requests.emplace_back(SelectionChanged{m_selection});
    }
}

Point DepthCanvas::pointerOnScreen() const
{
    const ImVec2 p = ImGui::GetIO().MousePos;
    return {p.x, p.y};
}

void DepthCanvas::draw(float width, float height, float)
{
    m_width = width;
    m_height = height;
    if (m_fitted && width > 2 * kFitMargin && height > 2 * kFitMargin) {
        m_view.fit(m_scene.bounds(), width, height, kFitMargin, kFitMaxZoom);
    }
    handlePointer();

    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    const auto hovered = m_hover.kind == Hit::Kind::Shortcut ? std::optional(m_hover.shortcut) : m_hoveredElsewhere;
    const bool onLayer = m_hover.kind == Hit::Kind::Layer || m_hover.kind == Hit::Kind::Handle;
    const DepthPicture picture{m_scene,
                               m_view,
                               m_selection,
                               m_weights,
                               portsOf(m_project.topology).front(),
                               hovered,
                               onLayer ? std::optional(m_hover.layer) : std::nullopt,
                               m_theme,
                               m_width,
                               m_height};
    paintDepth(list, picture);
    const Point pointer = pointerOnScreen();
    if (m_gesture == Gesture::Connect) {
        paintDrag(list, picture, dragPreview(pointer));
    } else if (m_gesture == Gesture::BoxSelect) {
        paintSelectionBox(list, picture,
                          {std::min(m_pressedAt.x, pointer.x), std::min(m_pressedAt.y, pointer.y),
                           std::max(m_pressedAt.x, pointer.x), std::max(m_pressedAt.y, pointer.y)});
    }
}

void DepthCanvas::handlePointer()
{
    const ImGuiIO& io = ImGui::GetIO();
    const Point pointer = pointerOnScreen();
    const bool inside =
        ImGui::IsMousePosValid() && pointer.x >= 0 && pointer.y >= 0 && pointer.x < m_width && pointer.y < m_height;
    if (m_gesture == Gesture::None) {
        if (inside && io.MouseWheel != 0) {
            m_fitted = false;
            m_view.zoomAt(pointer, std::pow(kWheelStep, io.MouseWheel));
        }
        if (inside && io.MouseWheelH != 0) {
            m_fitted = false;
            m_view.panBy(io.MouseWheelH * 40, 0);
        }
        updateHover(inside ? pointer : Point{-1e6F, -1e6F});
        if (inside) {
            beginGesture(pointer);
        }
        return;
    }
    updateHover(pointer);
    continueGesture(pointer);
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left) && !ImGui::IsMouseDown(ImGuiMouseButton_Middle)) {
        endGesture(pointer);
    }
}

void DepthCanvas::updateHover(Point pointer)
{
    m_hover = m_scene.hitTest(m_view.toScene(pointer), kPickTolerance / m_view.zoom());
    const auto shortcut = m_hover.kind == Hit::Kind::Shortcut ? std::optional(m_hover.shortcut) : std::nullopt;
    if (shortcut != m_announcedHover) {
        m_announcedHover = shortcut;
        m_requests.emplace_back(HoverShortcut{shortcut});
    }
    if (m_hover.kind == Hit::Kind::Handle) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    }
}

void DepthCanvas::beginGesture(Point pointer)
{
    if (m_hover.kind == Hit::Kind::Layer && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
        if (const LayerBox* box = m_scene.box(m_hover.layer); box != nullptr) {
            m_requests.emplace_back(OpenBlock{box->graph});
        }
        return;
    }
    const bool left = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
    const bool middle = ImGui::IsMouseClicked(ImGuiMouseButton_Middle);
    if (!left && !middle) {
        return;
    }
    m_pressedAt = pointer;
    m_pressed = m_hover;
    if (middle || ImGui::IsKeyDown(ImGui::GetKeyIndex(ImGuiKey_Space))) {
        m_gesture = Gesture::Pan;
    } else {
        m_gesture = m_hover.kind == Hit::Kind::Handle ? Gesture::Connect : Gesture::Press;
    }
}

void DepthCanvas::continueGesture(Point pointer)
{
    const ImVec2 delta = ImGui::GetIO().MouseDelta;
    if (m_gesture == Gesture::Pan) {
        m_fitted = false;
        m_view.panBy(delta.x, delta.y);
    }
    const bool moved = std::hypot(pointer.x - m_pressedAt.x, pointer.y - m_pressedAt.y) > kClickSlop;
    if (m_gesture == Gesture::Press && moved) {
        // From a layer the drag draws a shortcut, as from its handle; from empty ground it selects.
        const bool fromLayer = m_pressed.kind == Hit::Kind::Layer && m_pressed.layer <= m_scene.depth();
        m_gesture = fromLayer ? Gesture::Connect : Gesture::BoxSelect;
    }
}

void DepthCanvas::endGesture(Point pointer)
{
    switch (std::exchange(m_gesture, Gesture::None)) {
    case Gesture::Press:
        click(m_pressed);
        break;
    case Gesture::BoxSelect:
        selectBox(pointer);
        break;
    case Gesture::Connect:
        finishConnect();
        break;
    case Gesture::Pan:
    case Gesture::None:
        break;
    }
}

void DepthCanvas::click(const Hit& hit)
{
    const bool additive = ImGui::GetIO().KeyShift || ImGui::GetIO().KeyCtrl;
    Selection selection = additive ? m_selection : Selection{};
    const auto toggle = [](auto& set, const auto& value) {
        if (!set.insert(value).second) {
            set.erase(value);
        }
    };
    if (hit.kind == Hit::Kind::Layer) {
        toggle(selection.layers, hit.layer);
    } else if (hit.kind == Hit::Kind::Shortcut) {
        toggle(selection.shortcuts, hit.shortcut);
    }
    select(std::move(selection));
}

void DepthCanvas::selectBox(Point pointer)
{
    const Point a = m_view.toScene(m_pressedAt);
    const Point b = m_view.toScene(pointer);
    const Rect area{std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)};
    Selection selection = ImGui::GetIO().KeyShift ? m_selection : Selection{};
    for (const std::int64_t layer : m_scene.layersIn(area)) {
        selection.layers.insert(layer);
    }
    for (const Shortcut& shortcut : m_scene.shortcutsIn(area)) {
        selection.shortcuts.insert(shortcut);
    }
    select(std::move(selection));
}

DragPreview DepthCanvas::dragPreview(Point pointer) const
{
    DragPreview drag{
        .source = m_pressed.layer, .target = std::nullopt, .pointer = pointer, .lines = {}, .valid = false};
    if (m_hover.kind == Hit::Kind::Layer || m_hover.kind == Hit::Kind::Handle) {
        drag.target = m_hover.layer;
    }
    if (!drag.target || *drag.target == drag.source) {
        drag.target.reset();
        drag.lines = {std::to_string(drag.source) + ": …", "drop on a later layer"};
        return drag;
    }
    const Shortcut shortcut{drag.source, *drag.target};
    drag.lines = {nameOf(shortcut)};
    const Arc* existing = m_scene.arc(shortcut);
    if (shortcut.source > shortcut.target) {
        drag.lines.emplace_back("a shortcut runs forward in depth");
    } else if (existing != nullptr && existing->kind == ShortcutKind::Pruned) {
        drag.valid = true;
        drag.lines.emplace_back("brings the pruned shortcut back");
    } else if (existing != nullptr) {
        drag.lines.emplace_back("is there already");
    } else {
        const CostLines cost = costLines(m_project, shortcut);
        drag.valid = cost.possible;
        drag.lines.insert(drag.lines.end(), cost.lines.begin(), cost.lines.end());
    }
    return drag;
}

void DepthCanvas::finishConnect()
{
    const DragPreview drag = dragPreview(pointerOnScreen());
    if (!drag.valid) {
        return;
    }
    const Shortcut shortcut{drag.source, *drag.target};
    if (auto edit = addEdit(m_project, {shortcut})) {
        m_requests.emplace_back(RequestEdit{*std::move(edit)});
    }
    select({.layers = {}, .shortcuts = {shortcut}, .nodes = {}});
}

std::optional<ScreenPoint> DepthCanvas::locate(std::int64_t layer, Spot spot) const
{
    const LayerBox* box = m_scene.box(layer);
    if (box == nullptr) {
        return std::nullopt;
    }
    const Point p = m_view.toScreen(spot == Spot::Handle ? DepthScene::handleOf(*box) : box->rect.centre());
    return ScreenPoint{p.x, p.y};
}

std::optional<ScreenPoint> DepthCanvas::locate(const Shortcut& shortcut) const
{
    const Arc* arc = m_scene.arc(shortcut);
    if (arc == nullptr) {
        return std::nullopt;
    }
    const Point p = m_view.toScreen(arc->at(0.5F));
    return ScreenPoint{p.x, p.y};
}

} // namespace

std::unique_ptr<Canvas> makeDepthCanvas()
{
    return std::make_unique<DepthCanvas>();
}

} // namespace residua::editor
