// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/canvas/canvas.h"

#include "editor/canvas/paint_tools.h"
#include "editor/figures/scene_figures.h"
#include "editor/matrix/matrix_paint.h"
#include "editor/scenes/geometry.h"
#include "editor/scenes/matrix_scene.h"
#include "editor/scenes/words.h"
#include "editor/shortcuts/shortcut_canvas.h"
#include "projects/commands/commands.h"

#include <imgui.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace residua::editor {
namespace {

using projects::Shortcut;

constexpr float kFitMargin = 16;
constexpr float kFitMaxZoom = 1.6F;
constexpr Point kChipsAt{16, 12};
constexpr float kRowsGap = 20; ///< between the ports and the measures

class MatrixCanvas final : public ShortcutCanvas {
public:
    std::optional<ScreenPoint> locate(const Target& target) const override;
    AskTyping typingPlace() const override { return {.at = {width() / 2, top()}}; }
    Result<Figure> figure(const FigureStyle& style, FigureWeights of) const override
    {
        const LiveWeights none;
        std::vector<DepthPort> shown = depthPorts(project().stack().topology, Theme::Light);
        if (m_scene.note().empty()) {
            std::erase_if(shown, [this](const DepthPort& each) { return each.port != port(); });
        }
        return matrixFigure({document(), of == FigureWeights::Live ? weights() : none, std::move(shown), {}, measure()},
                            style);
    }

protected:
    void rebuild() override;
    void stateChanged() override;
    Rect bounds() const override { return m_scene.bounds(); }
    std::optional<Rect> areaOf(const projects::Selection& selection) const override;
    bool inGesture() const override { return m_stroking; }
    PannedView::LeftButton leftButton() const override
    {
        return m_space == Space::Pans ? PannedView::LeftButton::Pans : PannedView::LeftButton::Free;
    }
    bool giveUpGesture() override;
    void handlePointer(Point pointer, bool inside) override;
    void handleKeys() override;
    void paint(ImDrawList& list) override;
    void paintOverview(ImDrawList& list, const Minimap& map) override;
    /// Returns the space that the axes need, for fitting.
    Framing framing() const override
    {
        return {.left = kMatrixAxis, .top = top(), .margin = kFitMargin, .maxZoom = kFitMaxZoom};
    }

private:
    void moveCursor(std::int64_t down, std::int64_t right);
    void toggle(const Shortcut& shortcut);
    /// Returns the effect of a stroke that begins at this cell. One stroke never both adds and prunes.
    [[nodiscard]] MatrixStroke::Does strokeFrom(const Shortcut& shortcut) const
    {
        return isRead(m_scene.cell(shortcut)) ? MatrixStroke::Does::Prune : MatrixStroke::Does::Add;
    }
    void carryOut(const MatrixStroke& stroke);
    void beginStroke(Point pointer);
    void continueStroke(Point pointer);
    void endStroke();
    void addToStroke(const Shortcut& shortcut);
    void handleSpace();
    bool clickChip(Point pointer);
    [[nodiscard]] std::vector<Chip> portChips() const;
    /// Returns the measures to choose from if each feature has a weight of its own; a single one if there is no choice.
    [[nodiscard]] std::vector<LiveMeasure> measures() const;
    [[nodiscard]] LiveMeasure measure() const { return weights().has(m_measure) ? m_measure : LiveMeasure::Mean; }
    [[nodiscard]] std::vector<Chip> measureChips() const;
    void stepMeasure(std::size_t by);
    /// Returns the top of the grid.
    [[nodiscard]] float top() const
    {
        return kMatrixAxis + (m_scene.ports().size() > 1 || measures().size() > 1 ? kMatrixPorts : 0);
    }
    [[nodiscard]] projects::MixPort port() const { return m_scene.ports()[m_port]; }

    MatrixScene m_scene;
    bool m_stroking = false;
    MatrixStroke m_stroke;
    MatrixBlocks m_blocks;
    Point m_strokeAt;
    std::size_t m_port = 0;
    LiveMeasure m_measure = LiveMeasure::Mean;
    enum class Space { Up, Held, Pans } m_space = Space::Up;
    std::optional<Shortcut> m_cursor;
    std::optional<Shortcut> m_hover;
};

void MatrixCanvas::rebuild()
{
    m_scene.rebuild(project());
    m_port = std::min(m_port, m_scene.ports().size() - 1);
    if (m_cursor && m_scene.cell(*m_cursor) == MatrixCell::Outside) {
        m_cursor.reset();
    }
}

void MatrixCanvas::stateChanged()
{
    const auto& shortcuts = selection().shortcuts;
    if (shortcuts.size() == 1 && m_scene.cell(*shortcuts.begin()) != MatrixCell::Outside) {
        m_cursor = *shortcuts.begin();
    }
}

std::optional<Rect> MatrixCanvas::areaOf(const projects::Selection& selection) const
{
    std::optional<Rect> area;
    for (const Shortcut& shortcut : selection.shortcuts) {
        include(area, m_scene.rectOf(shortcut));
    }
    return area;
}

bool MatrixCanvas::giveUpGesture()
{
    m_stroke = {};
    if (std::exchange(m_stroking, false)) {
        return true;
    }
    m_cursor.reset();
    return false;
}

void MatrixCanvas::paint(ImDrawList& list)
{
    paintMatrix(list, {m_scene, view(), selection(), weights(), project(), m_stroke, m_blocks, port(), measure(),
                       shownHover(), m_cursor, theme(), width(), height(), top()});
    const Point at = pointerPosition();
    for (const auto& row : {portChips(), measureChips()}) {
        for (const Chip& chip : row) {
            paintChip(list, chip, theme(), chip.rect.contains(at));
        }
    }
}

// Paints the half below the diagonal and the selection in it.
void MatrixCanvas::paintOverview(ImDrawList& list, const Minimap& map)
{
    const resources::ThemeColours& c = resources::themeColours(theme());
    const Rect& r = map.content;
    list.AddTriangleFilled({r.left, r.top}, {r.right, r.bottom}, {r.left, r.bottom}, imColour(c.muted, 0.3));
    for (const Shortcut& shortcut : selection().shortcuts) {
        const Rect cell = map.toPanel(m_scene.rectOf(shortcut), bounds());
        list.AddRectFilled({cell.left, cell.top},
                           {std::max(cell.right, cell.left + 2), std::max(cell.bottom, cell.top + 2)},
                           imColour(c.accent));
    }
}

std::vector<Chip> MatrixCanvas::portChips() const
{
    if (m_scene.ports().size() < 2 || !m_scene.note().empty()) {
        return {};
    }
    std::vector<std::string> names;
    std::ranges::transform(m_scene.ports(), std::back_inserter(names),
                           [](projects::MixPort each) { return std::string(nameOf(each)); });
    auto chips = layoutChips(names, ChipKind::Choice, kChipsAt);
    chips[m_port].on = true;
    return chips;
}

std::vector<LiveMeasure> MatrixCanvas::measures() const
{
    std::vector<LiveMeasure> shown{LiveMeasure::Mean};
    for (const LiveMeasure measure : {LiveMeasure::Spread, LiveMeasure::Feature}) {
        if (weights().has(measure)) {
            shown.push_back(measure);
        }
    }
    return shown;
}

// Returns the chips of the measures, to the right of those of the ports.
std::vector<Chip> MatrixCanvas::measureChips() const
{
    const std::vector<LiveMeasure> shown = measures();
    if (shown.size() < 2 || !m_scene.note().empty()) {
        return {};
    }
    std::vector<std::string> labels;
    for (const LiveMeasure each : shown) {
        labels.push_back(each == LiveMeasure::Mean
                             ? weights().areEffects() ? translate("Canvas", "effect") : translate("Canvas", "mean")
                         : each == LiveMeasure::Spread
                             ? translate("Canvas", "spread")
                             : filled(translate("Canvas", "feature %1"), {std::to_string(weights().feature())}));
    }
    const auto ports = portChips();
    auto chips = layoutChips(labels, ChipKind::Choice,
                             ports.empty() ? kChipsAt : Point{ports.back().rect.right + kRowsGap, kChipsAt.y});
    for (std::size_t i = 0; i < chips.size(); ++i) {
        chips[i].on = shown[i] == measure();
    }
    return chips;
}

void MatrixCanvas::stepMeasure(std::size_t by)
{
    const std::vector<LiveMeasure> shown = measures();
    const auto now = static_cast<std::size_t>(std::ranges::find(shown, measure()) - shown.begin());
    m_measure = shown[(now + by) % shown.size()];
}

// Space with the left button moves the view. Pressed and released alone, it toggles the cell under the cursor.
void MatrixCanvas::handleSpace()
{
    const bool again = pressed(ImGuiKey_Space);
    if (m_space == Space::Held && (again || !ImGui::IsKeyDown(ImGui::GetKeyIndex(ImGuiKey_Space))) && m_cursor) {
        toggle(*m_cursor);
    }
    if (again) {
        m_space = Space::Held;
    } else if (!ImGui::IsKeyDown(ImGui::GetKeyIndex(ImGuiKey_Space))) {
        m_space = Space::Up;
    }
    if (m_space == Space::Held && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
        m_space = Space::Pans;
    }
}

void MatrixCanvas::handleKeys()
{
    if (!m_scene.note().empty()) {
        return;
    }
    if (pressed(ImGuiKey_UpArrow)) {
        moveCursor(-1, 0);
    } else if (pressed(ImGuiKey_DownArrow)) {
        moveCursor(1, 0);
    } else if (pressed(ImGuiKey_LeftArrow)) {
        moveCursor(0, -1);
    } else if (pressed(ImGuiKey_RightArrow)) {
        moveCursor(0, 1);
    } else if (pressed(ImGuiKey_PageDown)) {
        m_port = (m_port + 1) % m_scene.ports().size();
    } else if (pressed(ImGuiKey_PageUp)) {
        m_port = (m_port + m_scene.ports().size() - 1) % m_scene.ports().size();
    } else if (pressed(ImGuiKey_Home)) {
        stepMeasure(measures().size() - 1);
    } else if (pressed(ImGuiKey_End)) {
        stepMeasure(1);
    }
    handleSpace();
}

void MatrixCanvas::moveCursor(std::int64_t down, std::int64_t right)
{
    const Shortcut from = m_cursor.value_or(Shortcut{0, 1});
    const Shortcut to{from.source + right, from.target + down};
    if (m_cursor && m_scene.cell(to) == MatrixCell::Outside) {
        return; // the cursor is at the grid's edge
    }
    m_cursor = m_cursor ? to : from;
    reveal(m_scene.rectOf(*m_cursor));
    projects::Selection selection;
    if (isRead(m_scene.cell(*m_cursor))) {
        selection.shortcuts.insert(*m_cursor);
    }
    select(std::move(selection));
}

void MatrixCanvas::toggle(const Shortcut& shortcut)
{
    carryOut({.does = strokeFrom(shortcut), .cells = {shortcut}});
}

void MatrixCanvas::handlePointer(Point pointer, bool inside)
{
    if (m_stroking) {
        continueStroke(pointer);
        return;
    }
    const bool onGrid = inside && pointer.x >= kMatrixAxis && pointer.y >= top() && m_scene.note().empty();
    m_hover = onGrid ? m_scene.hitTest(view().toScene(pointer)) : std::nullopt;
    hover(m_hover);
    if (inside && ImGui::IsMouseClicked(ImGuiMouseButton_Right)) {
        if (!m_hover || !selection().shortcuts.contains(*m_hover)) {
            projects::Selection chosen;
            if (m_hover && isRead(m_scene.cell(*m_hover))) {
                chosen.shortcuts.insert(*m_hover);
            }
            select(std::move(chosen));
        }
        request(OpenMenu{{pointer.x, pointer.y}});
    } else if (inside && ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !clickChip(pointer)) {
        beginStroke(pointer);
    }
}

bool MatrixCanvas::clickChip(Point pointer)
{
    const auto chips = portChips();
    for (std::size_t i = 0; i < chips.size(); ++i) {
        if (chips[i].rect.contains(pointer)) {
            m_port = i;
            return true;
        }
    }
    const auto shown = measureChips();
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (shown[i].rect.contains(pointer)) {
            m_measure = measures()[i];
            return true;
        }
    }
    return false;
}

void MatrixCanvas::beginStroke(Point pointer)
{
    if (!m_hover) {
        select({});
        return;
    }
    m_cursor = m_hover;
    if (ImGui::GetIO().KeyShift || ImGui::GetIO().KeyCtrl) { // selects, and changes nothing
        projects::Selection chosen = selection();
        if (isRead(m_scene.cell(*m_hover)) && !chosen.shortcuts.insert(*m_hover).second) {
            chosen.shortcuts.erase(*m_hover);
        }
        select(std::move(chosen));
        return;
    }
    m_stroking = true;
    m_strokeAt = view().toScene(pointer);
    m_stroke.does = strokeFrom(*m_hover);
    addToStroke(*m_hover);
}

void MatrixCanvas::addToStroke(const Shortcut& shortcut)
{
    if (isRead(m_scene.cell(shortcut)) == (m_stroke.does == MatrixStroke::Does::Prune)) {
        m_stroke.cells.insert(shortcut);
    }
}

void MatrixCanvas::continueStroke(Point pointer)
{
    const Point at = view().toScene(pointer);
    for (const Shortcut& shortcut : m_scene.stroke(m_strokeAt, at)) {
        addToStroke(shortcut);
    }
    m_strokeAt = at;
    m_hover = m_scene.hitTest(at);
    hover(m_hover);
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
        endStroke();
    }
}

void MatrixCanvas::endStroke()
{
    m_stroking = false;
    carryOut(std::exchange(m_stroke, {}));
}

void MatrixCanvas::carryOut(const MatrixStroke& stroke)
{
    const bool adds = stroke.does == MatrixStroke::Does::Add;
    request(RequestEdit{adds ? addShortcuts(document(), stroke.cells)
                             : pruneShortcuts(document(), {.shortcuts = stroke.cells})});
}

std::optional<ScreenPoint> MatrixCanvas::locate(const Target& target) const
{
    const auto* shortcut = std::get_if<Shortcut>(&target); // a layer has no position of its own
    if (shortcut == nullptr || m_scene.cell(*shortcut) == MatrixCell::Outside) {
        return std::nullopt;
    }
    return onScreen(m_scene.rectOf(*shortcut).centre());
}

} // namespace

std::unique_ptr<Canvas> makeMatrixCanvas()
{
    return std::make_unique<MatrixCanvas>();
}

} // namespace residua::editor
