// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/canvas/minimap.h"

#include "editor/canvas/paint_tools.h"

#include <algorithm>

namespace residua::editor {
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
