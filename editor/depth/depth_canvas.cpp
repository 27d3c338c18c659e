// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/depth/depth_canvas.h"

#include "editor/canvas/paint_tools.h"
#include "editor/depth/depth_paint.h"
#include "editor/depth/depth_scene.h"
#include "editor/depth/depth_steps.h"
#include "editor/shortcuts/folds.h"
#include "editor/shortcuts/port_row.h"
#include "editor/shortcuts/shortcut_canvas.h"
#include "editor/shortcuts/weight_legend.h"
#include "projects/commands/commands.h"
#include "projects/commands/shortcut_cost.h"
#include "projects/commands/shortcut_edits.h"
#include "projects/depth/depth_names.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::editor {
namespace {

using projects::Shortcut;

constexpr float kFitMargin = 24;
constexpr float kPickTolerance = 6; ///< screen pixels
constexpr float kClickSlop = 4;     ///< a press that moves less is a click
constexpr std::size_t kSkylineColumns = 96;
constexpr Point kFoldChipInset{16, 12}; ///< from the top right corner

Rect between(Point a, Point b)
{
    return {std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)};
}

class DepthCanvas final : public ShortcutCanvas {
public:
    void forget() override { m_folds.clear(); }
    void deleteSelection() override;
    void toggleFold() override;
    void groupSelection() override { requestTyping(typingPlace(), "group "); }
    void ungroupSelection() override { requestChange(ungroupLayers(document(), selection())); }
    void duplicateSelection() override;
    void askTyping() override { requestTyping(typingPlace(), {}); }
    std::optional<ScreenPoint> locate(std::int64_t layer, Spot spot) const override;
    std::optional<ScreenPoint> locate(const Shortcut& shortcut) const override;

protected:
    void rebuild() override;
    Rect bounds() const override { return m_scene.bounds(); }
    std::optional<Rect> areaOf(const projects::Selection& selection) const override;
    projects::Selection everything() const override { return wholeStack(project()); }
    bool inGesture() const override { return m_gesture != Gesture::None; }
    bool giveUpGesture() override { return std::exchange(m_gesture, Gesture::None) != Gesture::None; }
    void handlePointer(Point pointer, bool inside) override;
    void handleKeys() override;
    void paint(ImDrawList& list) override;
    void paintOverview(ImDrawList& list, const Minimap& map) override;
    Framing framing() const override
    {
        return {.top = m_ports.empty() ? 0.0F : PortRow::kRoom,
                .bottom = kTickRoom + kLegendRoom - kFitMargin,
                .margin = kFitMargin};
    }
    void suit(float width, float height) override;
    bool leftButtonPans() const override { return ImGui::IsKeyDown(ImGui::GetKeyIndex(ImGuiKey_Space)); }

private:
    enum class Gesture { None, Press, BoxSelect, Connect };

    [[nodiscard]] Point typingPlace() const;
    void updateHover(Point pointer);
    void beginGesture(Point pointer);
    void continueGesture(Point pointer);
    void endGesture(Point pointer);
    void click(const Hit& hit);
    void doubleClick(const Hit& hit);
    bool clickChip(Point pointer);
    [[nodiscard]] bool overChip(Point pointer) const;
    void unfold(std::int64_t layer);
    void judge();
    void finishConnect();
    void selectBox(Point pointer);
    [[nodiscard]] std::optional<Chip> foldChip() const;
    [[nodiscard]] DragPreview dragPreview(Point pointer) const;
    [[nodiscard]] bool overBox() const
    {
        return m_hover.kind == Hit::Kind::Layer || m_hover.kind == Hit::Kind::Handle || m_hover.kind == Hit::Kind::Fold;
    }

    DepthScene m_scene;
    std::vector<float> m_skyline;  ///< of the minimap
    std::vector<LayerRun> m_folds; ///< apart, ascending
    PortRow m_ports;
    float m_rise = 1;
    Gesture m_gesture = Gesture::None;
    Point m_pressedAt;
    Hit m_hover;
    Hit m_pressed;
    std::optional<projects::SoundProject>
        m_sound; ///< what is shown, while a shortcut is drawn; empty where it has errors
};

void DepthCanvas::rebuild()
{
    if (m_gesture == Gesture::Connect) {
        judge();
    }
    m_folds = stillFolded(project().network, std::move(m_folds));
    m_scene.rebuild(project(), document().layout.groups, m_folds);
    m_skyline = m_scene.skyline(kSkylineColumns);
    m_ports.follow(project().topology, theme());
}

void DepthCanvas::judge()
{
    const auto sound = projects::soundProject(project());
    m_sound = sound ? std::optional(*sound) : std::nullopt;
}

void DepthCanvas::suit(float width, float height)
{
    // No more than at the largest scale of a fit: short rows are not stretched.
    const float shown = std::min(width, bounds().width() * framing().maxZoom);
    if (const float rise = m_scene.riseFor(shown, height); rise != m_rise) {
        m_rise = rise;
        m_scene.setRise(rise);
        m_skyline = m_scene.skyline(kSkylineColumns);
    }
}

std::optional<Rect> DepthCanvas::areaOf(const projects::Selection& selection) const
{
    std::optional<Rect> area;
    for (const std::int64_t layer : selection.layers) {
        for (const LayerBox& box : m_scene.boxesOf(layer)) {
            include(area, box.rect);
        }
    }
    for (const Shortcut& shortcut : selection.shortcuts) {
        if (const Arc* arc = m_scene.arc(shortcut)) {
            include(area, {arc->left, -arc->height, arc->right, DepthScene::kBoxHeight});
        }
    }
    return area;
}

void DepthCanvas::toggleFold()
{
    m_folds = toggled(project().network, std::move(m_folds), selection().layers);
    rebuild();
}

void DepthCanvas::deleteSelection()
{
    requestChange(projects::deleteSelection(document(), partOfStack(selection())));
}

void DepthCanvas::duplicateSelection()
{
    requestChange(projects::duplicateSelection(document(), partOfStack(selection())));
}

// Where something that is typed has to do with the selection, or else in the middle.
Point DepthCanvas::typingPlace() const
{
    if (const auto area = areaOf(selection())) {
        const Point at = view().toScreen({area->left, area->bottom});
        return {std::clamp(at.x, 0.0F, width()), std::clamp(at.y, 0.0F, height())};
    }
    return {width() / 2, height() / 2};
}

void DepthCanvas::unfold(std::int64_t layer)
{
    std::erase_if(m_folds, [layer](const LayerRun& run) { return run.first <= layer && layer <= run.last; });
    rebuild();
}

void DepthCanvas::paint(ImDrawList& list)
{
    m_ports.setTheme(theme());
    const auto hoveredModule = overBox() ? std::optional(m_hover.module) : std::nullopt;
    const DepthPicture picture{m_scene,      view(),        selection(), weights(), project(), m_ports.ports(),
                               shownHover(), hoveredModule, theme(),     width(),   height()};
    paintDepth(list, picture);
    const Point at = pointer();
    m_ports.paint(list, theme(), at);
    if (const auto fold = foldChip()) {
        paintChip(list, *fold, theme(), fold->rect.contains(at));
    }
    if (m_gesture == Gesture::Connect) {
        paintDrag(list, picture, dragPreview(at));
    } else if (m_gesture == Gesture::BoxSelect) {
        paintSelectionBox(list, picture, between(m_pressedAt, at));
    }
}

// The arcs as their skyline, the row as a bar, what is selected on it.
void DepthCanvas::paintOverview(ImDrawList& list, const Minimap& map)
{
    const resources::ThemeColours& c = resources::themeColours(theme());
    const Rect all = bounds();
    const auto at = [&](const Rect& r) { return map.toPanel(r, all); };
    const float column = all.width() / static_cast<float>(m_skyline.size());
    for (std::size_t i = 0; i < m_skyline.size(); ++i) {
        const float left = all.left + column * static_cast<float>(i);
        const Rect r = at({left, -m_skyline[i], left + column, 0});
        list.AddRectFilled({r.left, r.top}, {r.right, r.bottom}, imColour(c.muted, 0.25));
    }
    const Rect row = at({all.left, 0, all.right, DepthScene::kBoxHeight});
    const float bottom = std::max(row.bottom, row.top + 3);
    list.AddRectFilled({row.left, row.top}, {row.right, bottom}, imColour(c.muted, 0.7));
    for (const std::int64_t layer : selection().layers) {
        for (const LayerBox& box : m_scene.boxesOf(layer)) {
            const Rect r = at(box.rect);
            list.AddRectFilled({r.left, row.top}, {std::max(r.right, r.left + 1), bottom}, imColour(c.accent));
        }
    }
}

// Top right, where there is something to fold.
std::optional<Chip> DepthCanvas::foldChip() const
{
    if (identicalRuns(project().network).empty()) {
        return std::nullopt;
    }
    Chip chip = layoutChips({m_folds.empty() ? "Fold ×N" : "Unfold"}, ChipKind::Choice, {0, kFoldChipInset.y}).front();
    const float right = width() - kFoldChipInset.x;
    chip.rect = {right - chip.rect.width(), chip.rect.top, right, chip.rect.bottom};
    return chip;
}

bool DepthCanvas::clickChip(Point pointer)
{
    if (const auto fold = foldChip(); fold && fold->rect.contains(pointer)) {
        toggleFold();
        return true;
    }
    const bool alone = ImGui::GetIO().KeyShift || ImGui::GetIO().KeyCtrl;
    return m_ports.click(pointer, alone ? PortRow::Click::Alone : PortRow::Click::Toggle);
}

bool DepthCanvas::overChip(Point pointer) const
{
    const auto fold = foldChip();
    return m_ports.contains(pointer) || (fold && fold->rect.contains(pointer));
}

// Left and right go from layer to layer, up and down through what the layer reads, page keys from port to port.
void DepthCanvas::handleKeys()
{
    const auto extend = ImGui::GetIO().KeyShift ? Step::Extend : Step::Move;
    const projects::Selection before = selection();
    if (pressed(ImGuiKey_LeftArrow)) {
        select(layerBeside(m_scene, before, -1, extend));
    } else if (pressed(ImGuiKey_RightArrow)) {
        select(layerBeside(m_scene, before, 1, extend));
    } else if (pressed(ImGuiKey_UpArrow)) {
        select(shortcutBeside(m_scene, before, 1));
    } else if (pressed(ImGuiKey_DownArrow)) {
        select(shortcutBeside(m_scene, before, -1));
    } else if (pressed(ImGuiKey_PageDown)) {
        m_ports.step(1);
    } else if (pressed(ImGuiKey_PageUp)) {
        m_ports.step(-1);
    }
    if (selection() != before) {
        if (const auto area = areaOf({.layers = selection().layers, .shortcuts = {}, .nodes = {}})) {
            reveal(*area);
        }
    }
}

void DepthCanvas::handlePointer(Point pointer, bool inside)
{
    updateHover(inside || m_gesture != Gesture::None ? pointer : Point{-1e6F, -1e6F});
    if (m_gesture == Gesture::None) {
        if (inside) {
            beginGesture(pointer);
        }
        return;
    }
    continueGesture(pointer);
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
        endGesture(pointer);
    }
}

void DepthCanvas::updateHover(Point pointer)
{
    m_hover = overChip(pointer) ? Hit{} : m_scene.hitTest(view().toScene(pointer), kPickTolerance / view().zoom());
    hover(m_hover.kind == Hit::Kind::Shortcut ? std::optional(m_hover.shortcut) : std::nullopt);
    if (m_hover.kind == Hit::Kind::Handle || m_hover.kind == Hit::Kind::Fold) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    }
}

void DepthCanvas::beginGesture(Point pointer)
{
    if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left) || clickChip(pointer)) {
        return;
    }
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
        doubleClick(m_hover);
        return;
    }
    m_pressedAt = pointer;
    m_pressed = m_hover;
    m_gesture = m_hover.kind == Hit::Kind::Handle ? Gesture::Connect : Gesture::Press;
}

void DepthCanvas::doubleClick(const Hit& hit)
{
    if (hit.kind == Hit::Kind::Layer) {
        request(OpenBlock{m_scene.box(hit.module)->graph});
    } else if (hit.kind == Hit::Kind::Group) {
        requestTyping(pointer(), "group " + m_scene.brackets()[hit.group].group.name);
    } else if (hit.kind == Hit::Kind::Nothing) {
        requestTyping(pointer(), {});
    }
}

void DepthCanvas::continueGesture(Point pointer)
{
    const bool moved = std::hypot(pointer.x - m_pressedAt.x, pointer.y - m_pressedAt.y) > kClickSlop;
    if (m_gesture == Gesture::Press && moved) {
        // From a layer the drag draws a shortcut, as from its handle; from empty ground it selects.
        const bool fromLayer = m_pressed.kind == Hit::Kind::Layer && m_pressed.module <= m_scene.modules();
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
    case Gesture::None:
        break;
    }
}

void DepthCanvas::click(const Hit& hit)
{
    if (hit.kind == Hit::Kind::Fold) {
        unfold(m_scene.box(hit.module)->layer);
        return;
    }
    const bool additive = ImGui::GetIO().KeyShift || ImGui::GetIO().KeyCtrl;
    projects::Selection chosen = additive ? selection() : projects::Selection{};
    // What was chosen whole before goes, all else comes.
    const auto toggle = [](auto& set, const auto& values) {
        const bool all = std::all_of(values.begin(), values.end(), [&set](const auto& v) { return set.contains(v); });
        for (const auto& value : values) {
            all ? static_cast<void>(set.erase(value)) : static_cast<void>(set.insert(value));
        }
    };
    const auto toggleLayers = [&](std::int64_t first, std::int64_t last) {
        std::vector<std::int64_t> layers;
        for (std::int64_t layer = first; layer <= last; ++layer) {
            layers.push_back(layer);
        }
        toggle(chosen.layers, layers);
    };
    if (hit.kind == Hit::Kind::Layer || hit.kind == Hit::Kind::Handle) {
        const LayerBox* box = m_scene.box(hit.module);
        toggleLayers(box->layer, box->lastLayer);
    } else if (hit.kind == Hit::Kind::Group) {
        const projects::LayerGroup& group = m_scene.brackets()[hit.group].group;
        toggleLayers(group.first, group.last);
    } else if (const Arc* arc = hit.kind == Hit::Kind::Shortcut ? m_scene.arc(hit.shortcut) : nullptr) {
        toggle(chosen.shortcuts, m_scene.members(*arc));
    }
    select(std::move(chosen));
}

void DepthCanvas::selectBox(Point pointer)
{
    const Rect area = between(view().toScene(m_pressedAt), view().toScene(pointer));
    const bool additive = ImGui::GetIO().KeyShift || ImGui::GetIO().KeyCtrl;
    projects::Selection chosen = additive ? selection() : projects::Selection{};
    const auto layers = m_scene.layersIn(area);
    const auto shortcuts = m_scene.shortcutsIn(area);
    chosen.layers.insert(layers.begin(), layers.end());
    chosen.shortcuts.insert(shortcuts.begin(), shortcuts.end());
    select(std::move(chosen));
}

DragPreview DepthCanvas::dragPreview(Point pointer) const
{
    DragPreview drag{
        .source = m_pressed.module, .target = std::nullopt, .pointer = pointer, .lines = {}, .valid = false};
    const LayerBox* from = m_scene.box(drag.source);
    const LayerBox* to = overBox() ? m_scene.box(m_hover.module) : nullptr;
    if (to == nullptr || to == from) {
        drag.lines = {moduleName(project(), drag.source) + ": …", "drop on a later layer"};
        return drag;
    }
    drag.target = to->module;
    if (from->folded() || to->folded()) {
        drag.lines = {from->title + " to " + to->title, "unfold both ends to add a shortcut"};
        return drag;
    }
    const Shortcut shortcut{drag.source, *drag.target};
    drag.lines = {nameOf(shortcut)};
    const Arc* existing = m_scene.arc(shortcut);
    if (shortcut.source > shortcut.target) {
        drag.lines.emplace_back("a shortcut runs forward in depth");
    } else if (existing != nullptr && existing->kind == projects::ShortcutKind::Pruned) {
        drag.valid = true;
        drag.lines.emplace_back("brings the pruned shortcut back");
    } else if (existing != nullptr) {
        drag.lines.emplace_back("is there already");
    } else {
        const projects::CostLines cost = costLines(project(), m_sound, shortcut);
        drag.valid = cost.possible;
        drag.lines.insert(drag.lines.end(), cost.lines.begin(), cost.lines.end());
    }
    return drag;
}

void DepthCanvas::finishConnect()
{
    const DragPreview drag = dragPreview(pointer());
    if (!drag.valid) {
        return;
    }
    const Shortcut shortcut{drag.source, *drag.target};
    requestEdit(addEdit(project(), {shortcut}));
    select({.layers = {}, .shortcuts = {shortcut}, .nodes = {}});
}

std::optional<ScreenPoint> DepthCanvas::locate(std::int64_t layer, Spot spot) const
{
    const auto boxes = m_scene.boxesOf(layer);
    if (boxes.empty()) {
        return std::nullopt;
    }
    const LayerBox& box = boxes.back();
    switch (spot) {
    case Spot::Handle:
        return onScreen(DepthScene::handleOf(box));
    case Spot::Fold:
        return box.folded() ? std::optional(onScreen(DepthScene::foldMarkOf(box).centre())) : std::nullopt;
    case Spot::Centre:
        break;
    }
    return onScreen(box.rect.centre());
}

std::optional<ScreenPoint> DepthCanvas::locate(const Shortcut& shortcut) const
{
    const Arc* arc = m_scene.arc(shortcut);
    return arc == nullptr ? std::nullopt : std::optional(onScreen(arc->at(0.5F)));
}

} // namespace

std::unique_ptr<Canvas> makeDepthCanvas()
{
    return std::make_unique<DepthCanvas>();
}

} // namespace residua::editor
