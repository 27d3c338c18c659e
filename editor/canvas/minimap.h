// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/geometry.h"
#include "editor/canvas/viewport.h"
#include "resources/colours.h"

#include <imgui.h>

#include <optional>

namespace residua::editor {

/// The whole scene, small, in the canvas's lower right corner: shown while not all of it is in sight.
struct Minimap {
    Rect panel;   ///< on the screen
    Rect content; ///< the scene's bounds within it

    [[nodiscard]] Point toScene(Point onScreen, const Rect& bounds) const;
    [[nodiscard]] Rect toPanel(const Rect& inScene, const Rect& bounds) const;
};

/// nullopt where all of `bounds` is in sight or it is empty, or the canvas is too small to spare the room.
[[nodiscard]] std::optional<Minimap> layoutMinimap(const Rect& bounds, const Viewport& view, float width, float height);
/// The panel. What is on it is drawn between this and the frame of what is in sight.
void paintMinimapPanel(ImDrawList& list, const Minimap& map, resources::Theme theme);
void paintMinimapFrame(ImDrawList& list, const Minimap& map, const Rect& inSight, resources::Theme theme);

} // namespace residua::editor
