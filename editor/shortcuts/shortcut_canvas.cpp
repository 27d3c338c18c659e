// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/shortcuts/shortcut_canvas.h"

namespace residua::editor {
namespace {

constexpr float kFar = -1e6F;

} // namespace

void ShortcutCanvas::setDocument(DocumentSnapshot document)
{
    if (document->project.network.depth() != project().network.depth()) {
        m_view.fit();
    }
    // The start of a gesture may have been deleted or renumbered.
    if (inGesture() && (document->project != project() || document->layout.groups != m_document->layout.groups)) {
        giveUpGesture();
    }
    const float before = bounds().width();
    m_document = std::move(document);
    rebuild();
    refitAfter(before);
}

// Keeps boxes and cells at their place on the screen, unless their number has changed.
void ShortcutCanvas::refitAfter(float width)
{
    if (bounds().width() != width) {
        const std::optional<float> held = heldHeight();
        held ? m_view.refitAround(*held) : m_view.refit();
    }
}

void ShortcutCanvas::setState(const ViewState& state)
{
    const bool onlyHover =
        state.selection == m_state.selection && state.folds == m_state.folds && state.tower == m_state.tower;
    m_state = state;
    if (!onlyHover) {
        const float before = bounds().width();
        stateChanged();
        refitAfter(before);
    }
}

void ShortcutCanvas::setLive(LiveSnapshot live)
{
    m_live = live ? std::move(live) : std::make_shared<const LiveWeights>();
}

void ShortcutCanvas::show(Extent extent)
{
    if (extent == Extent::Everything) {
        m_view.fit();
    } else if (const auto area = areaOf(selection())) {
        m_view.zoomTo(*area, framing());
    }
}

void ShortcutCanvas::requestTyping(Point onScreen, const std::string& text)
{
    request(AskTyping{{onScreen.x, onScreen.y}, text});
}

void ShortcutCanvas::select(projects::Selection selection)
{
    if (selection != m_state.selection) {
        m_state.selection = std::move(selection);
        request(SelectionChanged{m_state.selection});
    }
}

void ShortcutCanvas::fold(std::vector<LayerRun> folds)
{
    if (folds != m_state.folds) {
        m_state.folds = std::move(folds);
        request(FoldsChanged{m_state.folds});
        const float before = bounds().width();
        stateChanged();
        refitAfter(before);
    }
}

void ShortcutCanvas::hover(std::optional<projects::Shortcut> shortcut)
{
    if (shortcut != m_hovered) {
        m_hovered = m_state.hovered = shortcut;
        request(HoverShortcut{shortcut});
    }
}

ScreenPoint ShortcutCanvas::onScreen(Point scenePoint) const
{
    const Point p = view().toScreen(scenePoint);
    return {p.x, p.y};
}

void ShortcutCanvas::draw(float width, float height, Theme theme)
{
    m_theme = theme;
    m_view.resize(width, height);
    if (const auto space = m_view.fitSpace(framing())) {
        adaptTo(space->x, space->y);
        m_view.fitTo(bounds(), framing());
        adaptToView();
    }
    handleKeys();
    movePointer();
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    paint(list);
    if (const auto map = minimap()) {
        paintMinimapPanel(list, *map, m_theme);
        paintOverview(list, *map);
        paintMinimapFrame(list, *map, map->toPanel(m_view.inSight(), bounds()), m_theme);
    }
}

void ShortcutCanvas::movePointer()
{
    const bool inside = pointerInside(width(), height());
    const bool wasMoving = m_view.moving();
    if (!inGesture() && m_view.handlePointer(bounds(), inside, leftButton())) {
        if (!wasMoving) {
            handlePointer({kFar, kFar}, false); // nothing is under it
        }
        return;
    }
    handlePointer(ImGui::IsMousePosValid() ? pointerPosition() : Point{kFar, kFar}, inside);
}

} // namespace residua::editor
