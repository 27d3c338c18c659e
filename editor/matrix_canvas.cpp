// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/matrix_canvas.h"

#include "editor/live_weights.h"
#include "editor/matrix_paint.h"
#include "editor/matrix_scene.h"
#include "editor/paint_tools.h"
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

constexpr float kFitMargin = 16;
constexpr float kFitMaxZoom = 1.6F;
constexpr float kTopRoom = kMatrixAxis + 40; ///< ports and column numbers
constexpr float kWheelStep = 1.15F;
constexpr float kChipsLeft = 16;
constexpr float kChipsTop = 12;

class MatrixCanvas final : public Canvas {
public:
    void setDocument(const projects::Document& document) override;
    void setTheme(Theme theme) override { m_theme = theme; }
    void setSelection(const Selection& selection) override;
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
    enum class Gesture { None, Stroke, Pan };

    void fitView();
    void handleKeys();
    void moveCursor(std::int64_t down, std::int64_t right);
    void toggle(const Shortcut& shortcut);
    void handlePointer();
    void scroll(Point pointer);
    void beginGesture(Point pointer);
    void continueGesture(Point pointer);
    void endStroke();
    void updateHover(std::optional<Shortcut> hover);
    void addToStroke(const Shortcut& shortcut);
    void select(Selection selection);
    [[nodiscard]] std::vector<Chip> portChips() const;
    [[nodiscard]] std::vector<Shortcut> selectedReads() const;
    [[nodiscard]] const std::string& port() const { return m_scene.ports()[m_port]; }

    projects::Project m_project;
    MatrixScene m_scene;
    Viewport m_view;
    Selection m_selection;
    LiveWeights m_weights;
    Theme m_theme = Theme::Light;
    std::vector<Request> m_requests;

    Gesture m_gesture = Gesture::None;
    MatrixStroke m_stroke;
    Point m_strokeAt;
    std::size_t m_port = 0;
    std::optional<Shortcut> m_cursor;
    std::optional<Shortcut> m_hover;
    std::optional<Shortcut> m_hoveredElsewhere;
    float m_width = 0;
    float m_height = 0;
    bool m_fitted = true; ///< shows everything, until a person moves the view
};

void MatrixCanvas::setDocument(const projects::Document& document)
{
    const bool otherDepth = document.project.network.depth() != m_project.network.depth();
    if (otherDepth || document.project.topology != m_project.topology) {
        clearLive();
    }
    m_project = document.project;
    m_scene.rebuild(m_project);
    m_port = std::min(m_port, m_scene.ports().size() - 1);
    m_fitted = m_fitted || otherDepth;
    if (m_cursor && m_scene.cell(*m_cursor) == MatrixCell::Outside) {
        m_cursor.reset();
    }
}

void MatrixCanvas::setSelection(const Selection& selection)
{
    m_selection = selection;
    if (selection.shortcuts.size() == 1 && m_scene.cell(*selection.shortcuts.begin()) != MatrixCell::Outside) {
        m_cursor = *selection.shortcuts.begin();
    }
}

void MatrixCanvas::zoomToSelection()
{
    Rect area{std::numeric_limits<float>::max(), std::numeric_limits<float>::max(),
              std::numeric_limits<float>::lowest(), std::numeric_limits<float>::lowest()};
    for (const Shortcut& shortcut : m_selection.shortcuts) {
        const Rect r = m_scene.rectOf(shortcut);
        area = {std::min(area.left, r.left), std::min(area.top, r.top), std::max(area.right, r.right),
                std::max(area.bottom, r.bottom)};
    }
    if (area.left <= area.right) {
        m_fitted = false;
        m_view.fit(area, m_width, m_height, kTopRoom, 2.0F);
    }
}

std::vector<Shortcut> MatrixCanvas::selectedReads() const
{
    std::vector<Shortcut> reads;
    std::copy_if(m_selection.shortcuts.begin(), m_selection.shortcuts.end(), std::back_inserter(reads),
                 [this](const Shortcut& shortcut) { return isRead(m_scene.cell(shortcut)); });
    return reads;
}

void MatrixCanvas::deleteSelection()
{
    if (auto edit = pruneEdit(m_project, selectedReads())) {
        m_requests.emplace_back(RequestEdit{*std::move(edit)});
        select({});
    }
}

void MatrixCanvas::toggleFrozen()
{
    if (auto edit = freezeEdit(m_project, selectedReads())) {
        m_requests.emplace_back(RequestEdit{*std::move(edit)});
    }
}

void MatrixCanvas::selectAll()
{
    Selection all;
    for (std::int64_t target = 1; target <= m_scene.size(); ++target) {
        for (std::int64_t source = 0; source < target; ++source) {
            if (isRead(m_scene.cell({source, target}))) {
                all.shortcuts.insert({source, target});
            }
        }
    }
    select(std::move(all));
}

void MatrixCanvas::cancel()
{
    if (m_gesture != Gesture::None) {
        m_gesture = Gesture::None;
        m_stroke = {};
    } else {
        m_cursor.reset();
        select({});
    }
}

void MatrixCanvas::select(Selection selection)
{
    if (selection != m_selection) {
        m_selection = std::move(selection);
        m_requests.emplace_back(SelectionChanged{m_selection});
    }
}

void MatrixCanvas::fitView()
{
    // Into what the axes leave free.
    const float width = m_width - kMatrixAxis;
    const float height = m_height - kTopRoom;
    if (m_fitted && width > 4 * kFitMargin && height > 4 * kFitMargin) {
        m_view.fit(m_scene.bounds(), width, height, kFitMargin, kFitMaxZoom);
        m_view.panBy(kMatrixAxis, kTopRoom);
    }
}

void MatrixCanvas::draw(float width, float height, float)
{
    m_width = width;
    m_height = height;
    fitView();
    if (m_scene.note().empty()) {
        handleKeys();
        handlePointer();
    } else {
        updateHover(std::nullopt);
    }
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    paintMatrix(list, {m_scene, m_view, m_selection, m_weights, m_stroke, port(),
                       m_hover ? m_hover : m_hoveredElsewhere, m_cursor, m_theme, m_width, m_height});
    const ImVec2 pointer = ImGui::GetIO().MousePos;
    for (const Chip& chip : portChips()) {
        paintChip(list, chip, m_theme, chip.rect.contains({pointer.x, pointer.y}));
    }
}

std::vector<Chip> MatrixCanvas::portChips() const
{
    if (m_scene.ports().size() < 2 || !m_scene.note().empty()) {
        return {};
    }
    auto chips = layoutChips(m_scene.ports(), {kChipsLeft, kChipsTop});
    chips[m_port].on = true;
    return chips;
}

void MatrixCanvas::handleKeys()
{
    const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key)); };
    if (pressed(ImGuiKey_UpArrow)) {
        moveCursor(-1, 0);
    } else if (pressed(ImGuiKey_DownArrow)) {
        moveCursor(1, 0);
    } else if (pressed(ImGuiKey_LeftArrow)) {
        moveCursor(0, -1);
    } else if (pressed(ImGuiKey_RightArrow)) {
        moveCursor(0, 1);
    } else if (pressed(ImGuiKey_Space) && m_cursor) {
        toggle(*m_cursor);
    } else if (pressed(ImGuiKey_PageDown)) {
        m_port = (m_port + 1) % m_scene.ports().size();
    } else if (pressed(ImGuiKey_PageUp)) {
        m_port = (m_port + m_scene.ports().size() - 1) % m_scene.ports().size();
    }
}

void MatrixCanvas::moveCursor(std::int64_t down, std::int64_t right)
{
    const Shortcut from = m_cursor.value_or(Shortcut{0, 1});
    const Shortcut to{from.source + right, from.target + down};
    if (m_cursor && m_scene.cell(to) == MatrixCell::Outside) {
        return; // at the edge
    }
    m_cursor = m_cursor ? to : from;
    Selection selection;
    if (isRead(m_scene.cell(*m_cursor))) {
        selection.shortcuts.insert(*m_cursor);
    }
    select(std::move(selection));
}

void MatrixCanvas::toggle(const Shortcut& shortcut)
{
    const bool prune = isRead(m_scene.cell(shortcut));
    auto edit = prune ? pruneEdit(m_project, {shortcut}) : addEdit(m_project, {shortcut});
    if (edit) {
        m_requests.emplace_back(RequestEdit{*std::move(edit)});
    }
}

void MatrixCanvas::handlePointer()
{
    const ImVec2 at = ImGui::GetIO().MousePos;
    const Point pointer{at.x, at.y};
    const bool inside = ImGui::IsMousePosValid() && at.x >= 0 && at.y >= 0 && at.x < m_width && at.y < m_height;
    if (m_gesture != Gesture::None) {
        continueGesture(pointer);
        return;
    }
    const bool onGrid = inside && at.x >= kMatrixAxis && at.y >= kTopRoom;
    updateHover(onGrid ? m_scene.hitTest(m_view.toScene(pointer)) : std::nullopt);
    if (inside) {
        scroll(pointer);
        beginGesture(pointer);
    }
}

void MatrixCanvas::scroll(Point pointer)
{
    const ImGuiIO& io = ImGui::GetIO();
    if (io.MouseWheel != 0 || io.MouseWheelH != 0) {
        m_fitted = false;
        m_view.zoomAt(pointer, std::pow(kWheelStep, io.MouseWheel));
        m_view.panBy(io.MouseWheelH * 40, 0);
    }
}

void MatrixCanvas::updateHover(std::optional<Shortcut> hover)
{
    if (hover != m_hover) {
        m_hover = hover;
        m_requests.emplace_back(HoverShortcut{hover});
    }
}

void MatrixCanvas::beginGesture(Point pointer)
{
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Middle)) {
        m_gesture = Gesture::Pan;
        return;
    }
    if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
        return;
    }
    const auto chips = portChips();
    for (std::size_t i = 0; i < chips.size(); ++i) {
        if (chips[i].rect.contains(pointer)) {
            m_port = i;
            return;
        }
    }
    if (!m_hover) {
        select({});
        return;
    }
    m_cursor = m_hover;
    if (ImGui::GetIO().KeyShift || ImGui::GetIO().KeyCtrl) { // selects, and changes nothing
        Selection selection = m_selection;
        if (isRead(m_scene.cell(*m_hover)) && !selection.shortcuts.insert(*m_hover).second) {
            selection.shortcuts.erase(*m_hover);
        }
        select(std::move(selection));
        return;
    }
    m_gesture = Gesture::Stroke;
    m_strokeAt = m_view.toScene(pointer);
    // The first cell says what the whole stroke does: it never adds here and prunes there.
    m_stroke.does = isRead(m_scene.cell(*m_hover)) ? MatrixStroke::Does::Prune : MatrixStroke::Does::Add;
    addToStroke(*m_hover);
}

void MatrixCanvas::addToStroke(const Shortcut& shortcut)
{
    if (isRead(m_scene.cell(shortcut)) == (m_stroke.does == MatrixStroke::Does::Prune)) {
        m_stroke.cells.insert(shortcut);
    }
}

void MatrixCanvas::continueGesture(Point pointer)
{
    if (m_gesture == Gesture::Pan) {
        const ImVec2 delta = ImGui::GetIO().MouseDelta;
        m_fitted = false;
        m_view.panBy(delta.x, delta.y);
    } else {
        const Point at = m_view.toScene(pointer);
        for (const Shortcut& shortcut : m_scene.stroke(m_strokeAt, at)) {
            addToStroke(shortcut);
        }
        m_strokeAt = at;
        updateHover(m_scene.hitTest(at));
    }
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left) && !ImGui::IsMouseDown(ImGuiMouseButton_Middle)) {
        endStroke();
    }
}

void MatrixCanvas::endStroke()
{
    m_gesture = Gesture::None;
    const MatrixStroke stroke = std::exchange(m_stroke, {});
    const std::vector<Shortcut> cells(stroke.cells.begin(), stroke.cells.end());
    const bool adds = stroke.does == MatrixStroke::Does::Add;
    if (auto edit = adds ? addEdit(m_project, cells) : pruneEdit(m_project, cells)) {
        m_requests.emplace_back(RequestEdit{*std::move(edit)});
        select(adds ? Selection{{}, {cells.begin(), cells.end()}, {}} : Selection{});
    }
}

std::optional<ScreenPoint> MatrixCanvas::locate(std::int64_t, Spot) const
{
    return std::nullopt; // a layer has no place of its own here: it is a row and a column
}

std::optional<ScreenPoint> MatrixCanvas::locate(const Shortcut& shortcut) const
{
    if (m_scene.cell(shortcut) == MatrixCell::Outside) {
        return std::nullopt;
    }
    const Point p = m_view.toScreen(m_scene.rectOf(shortcut).centre());
    return ScreenPoint{p.x, p.y};
}

} // namespace

std::unique_ptr<Canvas> makeMatrixCanvas()
{
    return std::make_unique<MatrixCanvas>();
}

} // namespace residua::editor
