// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/shortcuts/shortcut_canvas.h"

#include "projects/commands/commands.h"
#include "projects/commands/typing.h"

#include <algorithm>
#include <cmath>

namespace residua::editor {
namespace {

constexpr float kWheelStep = 1.15F;
constexpr float kWheelPixels = 40; ///< a sideways notch
constexpr float kSelectionMaxZoom = 2;
constexpr float kFar = -1e6F;
constexpr float kRevealMargin = 12;

} // namespace

void include(std::optional<Rect>& area, const Rect& rect)
{
    if (!area) {
        area = rect;
        return;
    }
    area = {std::min(area->left, rect.left), std::min(area->top, rect.top), std::max(area->right, rect.right),
            std::max(area->bottom, rect.bottom)};
}

void ShortcutCanvas::setDocument(const projects::Document& document)
{
    const bool otherDepth = document.project.network.depth() != project().network.depth();
    const bool otherWiring = document.project.topology != project().topology;
    m_document = document;
    m_fitted = m_fitted || otherDepth;
    if (otherDepth || otherWiring) {
        clearLive();
    }
    rebuild();
}

void ShortcutCanvas::zoomToSelection()
{
    if (const auto area = areaOf(m_selection)) {
        const Framing frame = framing();
        m_fitted = false;
        m_view.fit(*area, m_width - frame.left, m_height - frame.top - frame.bottom, frame.margin, kSelectionMaxZoom);
        m_view.panBy(frame.left, frame.top);
    }
}

void ShortcutCanvas::deleteSelection()
{
    requestChange(projects::pruneShortcuts(m_document, m_selection));
}

void ShortcutCanvas::toggleFrozen()
{
    requestChange(projects::toggleFrozen(m_document, partOfStack(m_selection)));
}

std::string ShortcutCanvas::copied() const
{
    return projects::copied(m_document, partOfStack(m_selection));
}

Status ShortcutCanvas::paste(std::string_view text)
{
    const auto pasted = projects::paste(m_document, partOfStack(m_selection), text);
    requestChange(pasted);
    return pasted ? Status(Done{}) : Status(pasted.error());
}

projects::TypedAnswer ShortcutCanvas::typing(std::string_view text) const
{
    return typed(m_document, m_selection, text).answer;
}

void ShortcutCanvas::enter(std::string_view text)
{
    if (const projects::Typed meant = typed(m_document, m_selection, text); meant.change) {
        requestChange(*meant.change);
    }
}

void ShortcutCanvas::cancel()
{
    if (!giveUpGesture()) {
        select({});
    }
}

void ShortcutCanvas::request(Request request)
{
    m_requests.push_back(std::move(request));
}

void ShortcutCanvas::requestTyping(Point onScreen, const std::string& text)
{
    AskTyping typing{{onScreen.x, onScreen.y}, text};
    m_requests.emplace_back(std::move(typing));
}

void ShortcutCanvas::requestEdit(std::optional<projects::Edit> edit)
{
    if (edit) {
        m_requests.emplace_back(RequestEdit{*std::move(edit)});
    }
}

void ShortcutCanvas::requestChange(const Result<projects::DocumentChange>& change)
{
    if (change) {
        requestEdit(change->edit);
        if (change->selection) {
            select(*change->selection);
        }
    }
}

void ShortcutCanvas::select(projects::Selection selection)
{
    if (selection != m_selection) {
        m_selection = std::move(selection);
        m_requests.emplace_back(SelectionChanged{m_selection});
    }
}

void ShortcutCanvas::hover(std::optional<projects::Shortcut> shortcut)
{
    if (shortcut != m_hovered) {
        m_hovered = shortcut;
        m_requests.emplace_back(HoverShortcut{shortcut});
    }
}

void ShortcutCanvas::reveal(const Rect& area)
{
    const Framing frame = framing();
    const Rect r = m_view.rectToScreen(area);
    const auto shift = [](float from, float to, float least, float most) {
        return from < least ? least - from : to > most ? std::max(most - to, least - from) : 0.0F;
    };
    const float across = shift(r.left, r.right, frame.left + kRevealMargin, m_width - kRevealMargin);
    const float down = shift(r.top, r.bottom, frame.top + kRevealMargin, m_height - kRevealMargin);
    if (across != 0 || down != 0) {
        m_fitted = false;
        m_view.panBy(across, down);
    }
}

ScreenPoint ShortcutCanvas::onScreen(Point scenePoint) const
{
    const Point p = m_view.toScreen(scenePoint);
    return {p.x, p.y};
}

Point ShortcutCanvas::pointer()
{
    const ImVec2 p = ImGui::GetIO().MousePos;
    return {p.x, p.y};
}

void ShortcutCanvas::draw(float width, float height, float)
{
    m_width = width;
    m_height = height;
    fitView();
    handleKeys();
    movePointer();
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    paint(list);
    if (const auto map = minimap()) {
        paintMinimapPanel(list, *map, m_theme);
        paintOverview(list, *map);
        paintMinimapFrame(list, *map, map->toPanel(m_view.visible(m_width, m_height), bounds()), m_theme);
    }
}

std::optional<Minimap> ShortcutCanvas::minimap() const
{
    return layoutMinimap(bounds(), m_view, m_width, m_height);
}

void ShortcutCanvas::lookAt(Point onMinimap)
{
    if (const auto map = minimap()) {
        const Point wanted = m_view.toScreen(map->toScene(onMinimap, bounds()));
        m_view.panBy(m_width / 2 - wanted.x, m_height / 2 - wanted.y);
        m_fitted = false;
    }
}

void ShortcutCanvas::fitView()
{
    const Framing frame = framing();
    const float across = m_width - frame.left;
    const float down = m_height - frame.top - frame.bottom;
    if (m_fitted && across > 2 * frame.margin && down > 2 * frame.margin) {
        suit(across - 2 * frame.margin, down - 2 * frame.margin);
        m_view.fit(bounds(), across, down, frame.margin, frame.maxZoom);
        m_view.panBy(frame.left, frame.top);
    }
}

void ShortcutCanvas::movePointer()
{
    if (m_moving != Moving::No) {
        continueMoving();
        return;
    }
    const Point at = pointer();
    const bool inside = ImGui::IsMousePosValid() && at.x >= 0 && at.y >= 0 && at.x < m_width && at.y < m_height;
    if (inside && !inGesture() && beginMoving()) {
        handlePointer({kFar, kFar}, false); // nothing is under it
        return;
    }
    handlePointer(inside || ImGui::IsMousePosValid() ? at : Point{kFar, kFar}, inside);
}

bool ShortcutCanvas::beginMoving()
{
    const ImGuiIO& io = ImGui::GetIO();
    if (io.MouseWheel != 0 || io.MouseWheelH != 0) {
        m_fitted = false;
        m_view.zoomAt(pointer(), std::pow(kWheelStep, io.MouseWheel));
        m_view.panBy(io.MouseWheelH * kWheelPixels, 0);
    }
    const auto map = minimap();
    if (map && map->panel.contains(pointer())) {
        if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
            lookAt(pointer());
            m_moving = Moving::Minimap;
        }
        return true; // what lies under it is out of reach
    }
    const bool left = ImGui::IsMouseClicked(ImGuiMouseButton_Left) && leftButtonPans();
    if (left || ImGui::IsMouseClicked(ImGuiMouseButton_Middle)) {
        m_moving = Moving::Pan;
    }
    return m_moving != Moving::No;
}

void ShortcutCanvas::continueMoving()
{
    if (m_moving == Moving::Minimap) {
        lookAt(pointer());
    } else {
        const ImVec2 delta = ImGui::GetIO().MouseDelta;
        m_fitted = false;
        m_view.panBy(delta.x, delta.y);
    }
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left) && !ImGui::IsMouseDown(ImGuiMouseButton_Middle)) {
        m_moving = Moving::No;
    }
}

} // namespace residua::editor
