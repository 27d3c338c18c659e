// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/canvas/canvas.h"

#include "editor/canvas/paint_tools.h"
#include "editor/depth/arc_picture.h"
#include "editor/depth/depth_paint.h"
#include "editor/depth/depth_selection.h"
#include "editor/depth/shortcut_drag.h"
#include "editor/figures/scene_figures.h"
#include "editor/scenes/depth_scene.h"
#include "editor/scenes/geometry.h"
#include "editor/scenes/words.h"
#include "editor/shortcuts/port_row.h"
#include "editor/shortcuts/shortcut_canvas.h"
#include "projects/commands/commands.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace residua::editor {
namespace {

using projects::Selection;
using projects::Shortcut;

constexpr float kFitMargin = 24;
constexpr float kArcMargin = 8; ///< screen pixels above the highest arc
constexpr std::size_t kSkylineColumns = 96;
constexpr float kNameRoom = 88;        ///< screen pixels at the left for the names of rows
constexpr Point kFoldChipInset{16, 8}; ///< from the bottom right corner, and from the minimap

Pick pickNow()
{
    return ImGui::GetIO().KeyShift || ImGui::GetIO().KeyCtrl ? Pick::Additive : Pick::Alone;
}

class DepthCanvas final : public ShortcutCanvas {
public:
    std::optional<ScreenPoint> locate(const Target& target) const override;
    Result<Figure> figure(const FigureStyle& style, FigureWeights of) const override;
    AskTyping typingPlace() const override;
    std::shared_ptr<const CanvasImage> takeImage() override;
    void setTexture(void* texture) override;
    bool unfinished() const override { return m_sheets && m_sheets->unfinished(); }

protected:
    void rebuild() override;
    void stateChanged() override;
    Rect bounds() const override { return m_rows.empty() ? m_scene.bounds() : m_rows.bounds(); }
    std::optional<Rect> areaOf(const Selection& selection) const override;
    bool inGesture() const override { return m_gesture != Gesture::None; }
    bool giveUpGesture() override { return std::exchange(m_gesture, Gesture::None) != Gesture::None; }
    void handlePointer(Point pointer, bool inside) override;
    void handleKeys() override;
    void paint(ImDrawList& list) override;
    void paintOverview(ImDrawList& list, const Minimap& map) override
    {
        paintDepthOverview(list, picture(), map, m_skyline);
    }
    Framing framing() const override
    {
        return {.left = m_rows.empty() ? 0.0F : kNameRoom,
                .top = m_ports.empty() ? 0.0F : PortRow::kRoom,
                .bottom = kTickRoom + kLegendRoom - kFitMargin,
                .margin = kFitMargin};
    }
    void adaptTo(float width, float height) override;
    void adaptToView() override { keepArcsInSight(); }
    std::optional<float> heldHeight() const override
    {
        return m_rows.empty() ? std::optional(DepthScene::kBoxHeight / 2) : std::nullopt;
    }
    PannedView::LeftButton leftButton() const override
    {
        return ImGui::IsKeyDown(ImGui::GetKeyIndex(ImGuiKey_Space)) ? PannedView::LeftButton::Pans
                                                                    : PannedView::LeftButton::Free;
    }

private:
    enum class Gesture { None, Press, BoxSelect, Connect };

    void updateHover(Point pointer);
    void beginGesture(Point pointer);
    void continueGesture(Point pointer);
    void endGesture(Point pointer);
    void click(const Hit& hit);
    bool clickTowers(const TowerSpot& spot);
    void doubleClick(const Hit& hit);
    bool clickChip(Point pointer);
    [[nodiscard]] bool overChip(Point pointer) const;
    [[nodiscard]] std::optional<LoopChip> loopChipAt(Point pointer) const;
    void press(const LoopChip& chip);
    void setRise(float rise);
    void keepArcsInSight();
    void unfold(std::int64_t layer);
    void connectFrom(std::int64_t module);
    void finishConnect();
    void wantSheet(const DepthPicture& picture);
    [[nodiscard]] std::optional<Chip> foldChip() const;
    [[nodiscard]] DepthPicture picture() const;
    [[nodiscard]] const LayerBox* boxUnderPointer() const
    {
        const bool over =
            m_hover.kind == Hit::Kind::Layer || m_hover.kind == Hit::Kind::Handle || m_hover.kind == Hit::Kind::Fold;
        return over ? m_scene.box(m_hover.module) : nullptr;
    }

    DepthScene m_scene;
    TowerRows m_rows;
    std::optional<std::size_t> m_tower; ///< the shown one that the rows were built with
    std::vector<float> m_skyline;       ///< of the minimap
    std::vector<LayerRun> m_folded;     ///< the folds that the scene was built with
    PortRow m_ports;
    float m_rise = 1;
    Gesture m_gesture = Gesture::None;
    Point m_pressedAt;
    bool m_moved = false; ///< since the press, by more than a click allows
    Hit m_hover;
    std::optional<std::size_t> m_hoveredLoop; ///< index in DepthScene::loops()
    Hit m_pressed;
    TowerSpot m_hoveredTower;
    TowerSpot m_pressedTower;
    ShortcutDrag m_drag; ///< while Connect

    /// The state on which colours and widths in the picture of all arcs depend.
    struct InkSource {
        std::uint64_t scene = 0;
        LiveSnapshot live;
        Theme theme = Theme::Light;
        std::vector<bool> ports;
        std::set<Shortcut> selected; ///< only if there are many
        bool operator==(const InkSource&) const = default;
    };
    std::uint64_t m_sceneRevision = 1;
    InkSource m_inkSource;
    std::uint64_t m_inkRevision = 0;
    ArcPicture::Inks m_inks;
    std::optional<ThinnedArcs> m_thinned;             ///< of m_inks
    std::unique_ptr<ArcPicture> m_sheets;             ///< made when it is first needed
    std::shared_ptr<const ArcPicture::Drawn> m_sheet; ///< the picture that the host has as a texture
    void* m_texture = nullptr;
};

void DepthCanvas::rebuild()
{
    if (m_scene.layers() != project().network.depth()) {
        m_sheet.reset(); // it shows another stack
    }
    ++m_sceneRevision;
    m_folded = stillFolded(project().network, state().folds);
    m_scene.rebuild(project(), document().layout.groups, m_folded);
    m_skyline = m_scene.skyline(kSkylineColumns);
    m_ports.follow(project().stack().topology, theme());
    m_tower = state().tower;
    m_rows.rebuild(project(), m_tower);
    m_rows.place(m_scene);
    m_hoveredTower = {};
    m_rows.empty() ? keepArcsInSight() : refit();
}

void DepthCanvas::stateChanged()
{
    const bool isOtherTower = m_tower != state().tower && !project().towers.empty();
    if (isOtherTower || m_folded != stillFolded(project().network, state().folds)) {
        rebuild();
    }
}

void DepthCanvas::adaptTo(float width, float height)
{
    // At most the largest scale of a fit, so that short rows are not stretched.
    const float shown = std::min(width, bounds().width() * framing().maxZoom);
    const float others = bounds().height() - m_scene.bounds().height();
    setRise(m_rows.empty() ? m_scene.riseFor(shown, height)
                           : m_scene.riseWithin(height * bounds().width() / shown - others - m_scene.bounds().bottom));
}

void DepthCanvas::setRise(float rise)
{
    if (rise != m_rise) {
        m_rise = rise;
        ++m_sceneRevision;
        m_scene.setRise(rise);
        m_skyline = m_scene.skyline(kSkylineColumns);
        m_rows.place(m_scene);
    }
}

// If an arc reaches above the view, makes all arcs flatter. Boxes do not move.
void DepthCanvas::keepArcsInSight()
{
    const float room = -view().toScene({0, framing().top + kArcMargin}).y;
    if (fitted() && room > 0 && m_rows.empty() && -bounds().top > room) {
        setRise(m_scene.riseWithin(room));
    }
}

std::optional<Rect> DepthCanvas::areaOf(const Selection& selection) const
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

// Returns the place at the selection, or in the middle if nothing is selected.
AskTyping DepthCanvas::typingPlace() const
{
    if (const auto area = areaOf(selection())) {
        const Point at = view().toScreen({area->left, area->bottom});
        return {.at = {std::clamp(at.x, 0.0F, width()), std::clamp(at.y, 0.0F, height())}};
    }
    return {.at = {width() / 2, height() / 2}};
}

void DepthCanvas::unfold(std::int64_t layer)
{
    std::vector<LayerRun> folds = m_folded;
    std::erase_if(folds, [layer](const LayerRun& run) { return run.first <= layer && layer <= run.last; });
    fold(std::move(folds));
}

DepthPicture DepthCanvas::picture() const
{
    const LayerBox* over = boxUnderPointer();
    return {
        m_scene,   view(),          selection(),  weights(),
        project(), m_ports.ports(), shownHover(), over != nullptr ? std::optional(m_hover.module) : std::nullopt,
        theme(),   width(),         height(),     m_hoveredLoop < m_scene.loops().size() ? m_hoveredLoop : std::nullopt,
        &m_rows,   m_hoveredTower};
}

void DepthCanvas::paint(ImDrawList& list)
{
    m_ports.setTheme(theme());
    DepthPicture shown = picture();
    if (strokesInSight(shown) > kMostStrokes) {
        wantSheet(shown);
        if (m_sheet && m_texture != nullptr) {
            const ArcView& of = m_sheet->view;
            shown.sheet = ArcSheet{m_texture, of.viewport.visible(of.width, of.height)};
            shown.thinned = m_thinned;
        }
    }
    paintDepth(list, shown);
    const Point at = pointerPosition();
    paintLoops(list, shown, at);
    m_ports.paint(list, theme(), at);
    if (const auto fold = foldChip()) {
        paintChip(list, *fold, theme(), fold->rect.contains(at));
    }
    if (m_gesture == Gesture::Connect) {
        DragPreview drag = m_drag.preview(m_scene, project(), boxUnderPointer());
        drag.pointer = at;
        paintDrag(list, picture(), drag);
    } else if (m_gesture == Gesture::BoxSelect) {
        paintSelectionBox(list, picture(), rectBetween(m_pressedAt, at));
    }
}

void DepthCanvas::wantSheet(const DepthPicture& picture)
{
    InkSource source{m_sceneRevision, live(), theme(), {}, {}};
    for (const DepthPort& port : m_ports.ports()) {
        source.ports.push_back(port.shown);
    }
    if (selection().shortcuts.size() > kMostStrokes) {
        source.selected = selection().shortcuts;
    }
    if (!m_inks || source != m_inkSource) {
        std::vector<ArcInk> inks = inksOf(picture);
        m_thinned = thinOut(inks);
        m_inks = std::make_shared<const std::vector<ArcInk>>(std::move(inks));
        m_inkSource = std::move(source);
        ++m_inkRevision;
    }
    if (!m_sheets) {
        m_sheets = std::make_unique<ArcPicture>();
    }
    m_sheets->want(m_inks, m_inkRevision, {view(), width(), height(), ImGui::GetIO().DisplayFramebufferScale.x});
}

void DepthCanvas::setTexture(void* texture)
{
    m_texture = texture;
    if (texture == nullptr) { // the host dropped the texture, so the picture is made again
        m_sheets.reset();
        m_sheet.reset();
    }
}

std::shared_ptr<const CanvasImage> DepthCanvas::takeImage()
{
    auto drawn = m_sheets ? m_sheets->take() : nullptr;
    if (!drawn) {
        return nullptr;
    }
    m_sheet = std::move(drawn);
    return {m_sheet, &m_sheet->image};
}

// Returns the button that folds or unfolds; nullopt if there is nothing to fold. It is bottom right, beside the
// minimap, where a view of everything has neither arcs nor boxes.
std::optional<Chip> DepthCanvas::foldChip() const
{
    if (foldableRuns(project().network).empty()) {
        return std::nullopt;
    }
    Chip chip = layoutChips({m_folded.empty() ? translate("Canvas", "Fold ×N") : translate("Canvas", "Unfold")},
                            ChipKind::Choice, {})
                    .front();
    const auto map = minimap();
    const float right = (map ? map->panel.left : width()) - kFoldChipInset.x;
    const float below = fitted() ? height() - view().rectToScreen(bounds()).bottom : height();
    const float bottom = height() - std::clamp((below - chip.rect.height()) / 2, 0.0F, kFoldChipInset.y);
    chip.rect = {right - chip.rect.width(), bottom - chip.rect.height(), right, bottom};
    return chip;
}

bool DepthCanvas::clickChip(Point pointer)
{
    if (const auto chip = foldChip(); chip && chip->rect.contains(pointer)) {
        fold(toggled(project().network, m_folded, selection().layers));
        return true;
    }
    if (const auto chip = loopChipAt(pointer)) {
        press(*chip);
        return true;
    }
    return m_ports.click(pointer, pickNow() == Pick::Additive ? PortRow::Click::Alone : PortRow::Click::Toggle);
}

bool DepthCanvas::overChip(Point pointer) const
{
    const auto fold = foldChip();
    return m_ports.contains(pointer) || (fold && fold->rect.contains(pointer));
}

std::optional<LoopChip> DepthCanvas::loopChipAt(Point pointer) const
{
    std::optional<LoopChip> found;
    for (LoopChip& each : loopChips(picture())) {
        if (each.chip.rect.contains(pointer)) {
            found = std::move(each);
        }
    }
    return found;
}

void DepthCanvas::press(const LoopChip& chip)
{
    const LoopBracket& bracket = m_scene.loops()[chip.bracket];
    if (chip.part == LoopPart::Visits) {
        fold(toggled(project().network, m_folded, {bracket.first}));
    } else {
        const std::int64_t visits = project().stack().loops[bracket.loop].visits;
        request(RequestEdit{
            visitLayers(document(), {.layers = {bracket.first}}, visits + (chip.part == LoopPart::More ? 1 : -1))});
    }
}

// Left and right move from layer to layer, up and down through the layer's sources, page keys from port to port.
void DepthCanvas::handleKeys()
{
    const auto extend = ImGui::GetIO().KeyShift ? Step::Extend : Step::Move;
    const Selection before = selection();
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
        if (const auto area = areaOf({.layers = selection().layers})) {
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
    const auto chip = loopChipAt(pointer);
    m_hover =
        chip || overChip(pointer) ? Hit{} : m_scene.hitTest(view().toScene(pointer), kPickTolerance / view().zoom());
    m_hoveredLoop = chip                              ? std::optional(chip->bracket)
                    : m_hover.kind == Hit::Kind::Loop ? std::optional(m_hover.group)
                                                      : std::nullopt;
    hover(m_hover.kind == Hit::Kind::Shortcut ? std::optional(m_hover.shortcut) : std::nullopt);
    const bool free = m_hover.kind == Hit::Kind::Nothing && !chip && !overChip(pointer) && m_gesture == Gesture::None;
    m_hoveredTower = free ? m_rows.hitTest(view().toScene(pointer), kPickTolerance / view().zoom()) : TowerSpot{};
    if (m_rows.areaOf(m_hoveredTower) || m_hover.kind == Hit::Kind::Handle || m_hover.kind == Hit::Kind::Fold) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    }
}

void DepthCanvas::beginGesture(Point pointer)
{
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Right)) {
        if (!clickTowers(m_hoveredTower)) {
            select(pointedAt(m_scene, selection(), m_hover));
        }
        request(OpenMenu{{pointer.x, pointer.y}});
        return;
    }
    if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left) || clickChip(pointer)) {
        return;
    }
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
        doubleClick(m_hover);
        return;
    }
    m_pressedAt = pointer;
    m_pressed = m_hover;
    m_pressedTower = m_hoveredTower;
    m_moved = false;
    m_gesture = Gesture::Press;
    if (m_hover.kind == Hit::Kind::Handle) {
        connectFrom(m_hover.module);
    }
}

void DepthCanvas::doubleClick(const Hit& hit)
{
    // The first click has shown another tower, so that something else is at the pointer now.
    if (const TowerSpot first = std::exchange(m_pressedTower, {}); first.kind != TowerSpot::Kind::Nothing) {
        if (first.kind == TowerSpot::Kind::Joint) {
            request(OpenBlock{projects::GraphRef::stem()});
        }
    } else if (hit.kind == Hit::Kind::Layer) {
        request(OpenBlock{m_scene.box(hit.module)->graph});
    } else if (hit.kind == Hit::Kind::Group) {
        requestTyping(pointerPosition(), "group " + m_scene.brackets()[hit.group].group.name);
    } else if (hit.kind == Hit::Kind::Loop) {
        const std::size_t loop = m_scene.loops()[hit.group].loop;
        requestTyping(pointerPosition(), "visits " + std::to_string(project().stack().loops[loop].visits));
    } else if (hit.kind == Hit::Kind::Nothing) {
        requestTyping(pointerPosition(), {});
    }
}

void DepthCanvas::continueGesture(Point pointer)
{
    m_moved = m_moved || std::hypot(pointer.x - m_pressedAt.x, pointer.y - m_pressedAt.y) > kClickSlop;
    if (m_gesture == Gesture::Press && m_moved) {
        // A drag from a layer draws a shortcut, as from its handle. A drag from empty ground selects.
        m_gesture = Gesture::BoxSelect;
        if (m_pressed.kind == Hit::Kind::Layer && m_pressed.module <= m_scene.modules()) {
            connectFrom(m_pressed.module);
        }
    }
}

void DepthCanvas::connectFrom(std::int64_t module)
{
    m_gesture = Gesture::Connect;
    m_drag.begin(projectSnapshot(), module);
}

void DepthCanvas::endGesture(Point pointer)
{
    switch (std::exchange(m_gesture, Gesture::None)) {
    case Gesture::Press:
        click(m_pressed);
        break;
    case Gesture::BoxSelect:
        select(
            boxed(m_scene, selection(), rectBetween(view().toScene(m_pressedAt), view().toScene(pointer)), pickNow()));
        break;
    case Gesture::Connect:
        if (m_moved) {
            finishConnect();
        } else { // a press on a handle starts drawing a shortcut
            click(m_pressed);
        }
        break;
    case Gesture::None:
        break;
    }
}

void DepthCanvas::click(const Hit& hit)
{
    if (hit.kind == Hit::Kind::Fold) {
        unfold(m_scene.box(hit.module)->layer);
    } else if (!clickTowers(m_pressedTower)) {
        select(clicked(m_scene, selection(), hit, pickNow()));
    }
}

bool DepthCanvas::clickTowers(const TowerSpot& spot)
{
    const bool isJoint = spot.kind == TowerSpot::Kind::Joint;
    if (isJoint || spot.kind == TowerSpot::Kind::Stack) {
        request(ShowTower{spot.index, isJoint ? Selection{.layers = {0}} : Selection{}});
        return true;
    }
    return false;
}

void DepthCanvas::finishConnect()
{
    const DragPreview drag = m_drag.preview(m_scene, project(), boxUnderPointer());
    if (!drag.valid) {
        return;
    }
    request(RequestEdit{addShortcuts(document(), {drag.shortcut})});
}

Result<Figure> DepthCanvas::figure(const FigureStyle& style, FigureWeights of) const
{
    const LiveWeights none;
    std::vector<DepthPort> ports = depthPorts(project().stack().topology, Theme::Light);
    std::erase_if(ports, [this](const DepthPort& port) {
        const auto own = std::ranges::find(m_ports.ports(), port.port, &DepthPort::port);
        return own != m_ports.ports().end() && !own->shown;
    });
    return depthFigure({document(), of == FigureWeights::Live ? weights() : none, std::move(ports), m_folded}, style);
}

std::optional<ScreenPoint> DepthCanvas::locate(const Target& target) const
{
    if (const auto* shortcut = std::get_if<Shortcut>(&target)) {
        const Arc* arc = m_scene.arc(*shortcut);
        return arc == nullptr ? std::nullopt : std::optional(onScreen(arc->at(0.5F)));
    }
    if (const auto* loop = std::get_if<LoopTarget>(&target)) {
        for (const LoopChip& each : loopChips(picture())) {
            if (each.part == loop->part && m_scene.loops()[each.bracket].loop == loop->loop) {
                const Point at = each.chip.rect.centre();
                return ScreenPoint{at.x, at.y};
            }
        }
        return std::nullopt;
    }
    if (const auto* spot = std::get_if<TowerSpot>(&target)) {
        const std::optional<Rect> area = m_rows.areaOf(*spot);
        return area ? std::optional(onScreen(area->centre())) : std::nullopt;
    }
    const auto* layer = std::get_if<LayerTarget>(&target);
    const auto boxes = layer != nullptr ? m_scene.boxesOf(layer->layer) : std::span<const LayerBox>{};
    if (boxes.empty()) {
        return std::nullopt;
    }
    const LayerBox& box = boxes.back();
    switch (layer->part) {
    case LayerPart::Handle:
        return onScreen(DepthScene::handleOf(box));
    case LayerPart::Fold:
        return box.folded() ? std::optional(onScreen(DepthScene::foldMarkOf(box).centre())) : std::nullopt;
    case LayerPart::Centre:
        break;
    }
    return onScreen(box.rect.centre());
}

} // namespace

std::unique_ptr<Canvas> makeDepthCanvas()
{
    return std::make_unique<DepthCanvas>();
}

} // namespace residua::editor
