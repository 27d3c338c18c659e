// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/canvas/panned_view.h"

#include "editor/canvas/paint_tools.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::editor {

namespace {

constexpr float kWheelStep = 1.15F;
constexpr float kWheelPixels = 40; ///< per notch of sideways scrolling
constexpr float kSelectionMaxZoom = 2;
constexpr float kRevealMargin = 12;
constexpr float kLeastContent = 64;    ///< pixels for the fitted content, if the view is large enough
constexpr float kContentOfSmall = 0.6; ///< its share of a smaller view

} // namespace

Point pointerPosition()
{
    const ImVec2 p = ImGui::GetIO().MousePos;
    return {p.x, p.y};
}

bool pointerInside(float width, float height)
{
    const Point at = pointerPosition();
    return ImGui::IsMousePosValid() && at.x >= 0 && at.y >= 0 && at.x < width && at.y < height;
}

Framing PannedView::shrunk(Framing framing) const
{
    const auto factor = [](float extent, float around) {
        const float least = std::min(kLeastContent, kContentOfSmall * extent);
        return around > 0 && extent - around < least ? (extent - least) / around : 1.0F;
    };
    const float by = std::min(factor(m_width, framing.left + 2 * framing.margin),
                              factor(m_height, framing.top + framing.bottom + 2 * framing.margin));
    for (float* each : {&framing.left, &framing.top, &framing.bottom, &framing.margin}) {
        *each *= by;
    }
    return framing;
}

void PannedView::zoomTo(const Rect& area, const Framing& wanted)
{
    const Framing framing = shrunk(wanted);
    stay();
    m_viewport.fit(area, m_width - framing.left, m_height - framing.top - framing.bottom, framing.margin,
                   kSelectionMaxZoom);
    m_viewport.panBy(framing.left, framing.top);
}

void PannedView::reveal(const Rect& area, const Framing& framing)
{
    const Rect r = m_viewport.rectToScreen(area);
    const auto shift = [](float from, float to, float least, float most) {
        return from < least ? least - from : to > most ? std::max(most - to, least - from) : 0.0F;
    };
    const float across = shift(r.left, r.right, framing.left + kRevealMargin, m_width - kRevealMargin);
    const float down = shift(r.top, r.bottom, framing.top + kRevealMargin, m_height - kRevealMargin);
    if (across != 0 || down != 0) {
        stay();
        m_viewport.panBy(across, down);
    }
}

void PannedView::resize(float width, float height)
{
    if (width != m_width || height != m_height) {
        refit();
        m_held.reset();
    }
    m_width = width;
    m_height = height;
}

void PannedView::refitAround(float y)
{
    if (m_fitted && !m_fitDue) {
        m_held = HeldLine{y, m_viewport.toScreen({0, y}).y};
    }
    refit();
}

std::optional<Point> PannedView::fitSpace(const Framing& wanted) const
{
    const Framing framing = shrunk(wanted);
    const float across = m_width - framing.left - 2 * framing.margin;
    const float down = m_height - framing.top - framing.bottom - 2 * framing.margin;
    return m_fitDue && across > 0 && down > 0 ? std::optional(Point{across, down}) : std::nullopt;
}

void PannedView::fitTo(const Rect& bounds, const Framing& wanted)
{
    const Framing framing = shrunk(wanted);
    m_fitDue = false;
    m_viewport.fit(bounds, m_width - framing.left, m_height - framing.top - framing.bottom, framing.margin,
                   framing.maxZoom);
    m_viewport.panBy(framing.left, framing.top);
    if (const auto held = std::exchange(m_held, std::nullopt)) {
        m_viewport.panBy(0, held->onScreen - m_viewport.toScreen({0, held->inScene}).y);
        const float below = m_height - framing.bottom - framing.margin - m_viewport.rectToScreen(bounds).bottom;
        m_viewport.panBy(0, std::min(below, 0.0F)); // what is below the line stays in sight
    }
}

bool PannedView::handlePointer(const Rect& bounds, bool inside, LeftButton left)
{
    if (moving()) {
        proceed(bounds);
        return true;
    }
    return inside && begin(bounds, left);
}

bool PannedView::begin(const Rect& bounds, LeftButton left)
{
    const ImGuiIO& io = ImGui::GetIO();
    if (io.MouseWheel != 0 || io.MouseWheelH != 0) {
        stay();
        m_viewport.zoomAt(pointerPosition(), std::pow(kWheelStep, io.MouseWheel));
        m_viewport.panBy(io.MouseWheelH * kWheelPixels, 0);
    }
    const auto map = minimap(bounds);
    if (map && map->panel.contains(pointerPosition())) {
        if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
            lookAt(pointerPosition(), bounds);
            m_moving = Moving::Minimap;
        }
        return true; // the pointer uses the minimap, not the scene below it
    }
    const bool leftPans = left == LeftButton::Pans && ImGui::IsMouseClicked(ImGuiMouseButton_Left);
    if (leftPans || ImGui::IsMouseClicked(ImGuiMouseButton_Middle)) {
        m_moving = Moving::Pan;
    }
    return moving();
}

void PannedView::proceed(const Rect& bounds)
{
    if (m_moving == Moving::Minimap) {
        lookAt(pointerPosition(), bounds);
    } else {
        const ImVec2 delta = ImGui::GetIO().MouseDelta;
        stay();
        m_viewport.panBy(delta.x, delta.y);
    }
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left) && !ImGui::IsMouseDown(ImGuiMouseButton_Middle)) {
        m_moving = Moving::No;
    }
}

void PannedView::lookAt(Point onMinimap, const Rect& bounds)
{
    if (const auto map = minimap(bounds)) {
        const Point wanted = m_viewport.toScreen(map->toScene(onMinimap, bounds));
        m_viewport.panBy(m_width / 2 - wanted.x, m_height / 2 - wanted.y);
        stay();
    }
}

bool PannedView::stopMoving()
{
    return std::exchange(m_moving, Moving::No) != Moving::No;
}

namespace {

constexpr float kWidest = 200;
constexpr float kTallest = 110;
constexpr float kLeast = 26; ///< minimum of either side, so that a long row is not drawn as a thin line
constexpr float kPadding = 6;
constexpr float kMargin = 12;
constexpr float kShareOfCanvas = 0.3F;
constexpr float kSmallestFrame = 6;
constexpr float kSlack = 2; ///< screen pixels that may be out of sight

} // namespace

Point Minimap::toScene(Point onScreen, const Rect& bounds) const
{
    const float x = std::clamp((onScreen.x - content.left) / content.width(), 0.0F, 1.0F);
    const float y = std::clamp((onScreen.y - content.top) / content.height(), 0.0F, 1.0F);
    return {bounds.left + x * bounds.width(), bounds.top + y * bounds.height()};
}

Rect Minimap::toPanel(const Rect& inScene, const Rect& bounds) const
{
    const float across = content.width() / std::max(bounds.width(), 1.0F);
    const float down = content.height() / std::max(bounds.height(), 1.0F);
    return {content.left + (inScene.left - bounds.left) * across, content.top + (inScene.top - bounds.top) * down,
            content.left + (inScene.right - bounds.left) * across, content.top + (inScene.bottom - bounds.top) * down};
}

std::optional<Minimap> layoutMinimap(const Rect& bounds, const Viewport& view, float width, float height)
{
    const Rect shown = view.rectToScreen(bounds);
    const bool all = shown.left >= -kSlack && shown.top >= -kSlack && shown.right <= width + kSlack &&
                     shown.bottom <= height + kSlack;
    const float widest = std::min(kWidest, width * kShareOfCanvas);
    const float tallest = std::min(kTallest, height * kShareOfCanvas);
    const bool nothing = bounds.width() <= 0 || bounds.height() <= 0;
    if (all || nothing || widest < 2 * kLeast || tallest < kLeast) {
        return std::nullopt;
    }
    const float scale = std::min(widest / bounds.width(), tallest / bounds.height());
    const float across = std::max(bounds.width() * scale, kLeast);
    const float down = std::max(bounds.height() * scale, kLeast);
    const Point corner{width - kMargin - kPadding, height - kMargin - kPadding};
    const Rect content{corner.x - across, corner.y - down, corner.x, corner.y};
    return Minimap{{content.left - kPadding, content.top - kPadding, corner.x + kPadding, corner.y + kPadding},
                   content};
}

void paintMinimapPanel(ImDrawList& list, const Minimap& map, resources::Theme theme)
{
    const resources::ThemeColours& c = resources::themeColours(theme);
    const Rect& r = map.panel;
    list.AddRectFilled({r.left, r.top}, {r.right, r.bottom}, imColour(c.surface, 0.95), 5);
    list.AddRect({r.left, r.top}, {r.right, r.bottom}, imColour(c.border), 5);
}

void paintMinimapFrame(ImDrawList& list, const Minimap& map, const Rect& inSight, resources::Theme theme)
{
    const resources::ThemeColours& c = resources::themeColours(theme);
    const Rect& room = map.content;
    const Point centre{std::clamp(inSight.centre().x, room.left, room.right),
                       std::clamp(inSight.centre().y, room.top, room.bottom)};
    const float half = kSmallestFrame / 2;
    const float left = std::max(std::min(inSight.left, centre.x - half), map.panel.left + 2);
    const float right = std::min(std::max(inSight.right, centre.x + half), map.panel.right - 2);
    const float top = std::max(std::min(inSight.top, centre.y - half), map.panel.top + 2);
    const float bottom = std::min(std::max(inSight.bottom, centre.y + half), map.panel.bottom - 2);
    list.AddRectFilled({left, top}, {right, bottom}, imColour(c.accent, 0.14), 2);
    list.AddRect({left, top}, {right, bottom}, imColour(c.accent), 2, 0, 1.5F);
}

} // namespace residua::editor
