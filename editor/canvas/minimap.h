// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/geometry.h"
#include "editor/scenes/viewport.h"
#include "resources/colours.h"

#include <imgui.h>

#include <optional>

namespace residua::editor {

/// A small view of the whole scene in the canvas's lower right corner, shown while a part of the scene is not visible.
struct Minimap {
    Rect panel;   ///< on the screen
    Rect content; ///< the scene's bounds within it

    [[nodiscard]] Point toScene(Point onScreen, const Rect& bounds) const;
    [[nodiscard]] Rect toPanel(const Rect& inScene, const Rect& bounds) const;
};

/// Returns nullopt if all of `bounds` is visible or it is empty, or if the canvas is too small for a minimap.
[[nodiscard]] std::optional<Minimap> layoutMinimap(const Rect& bounds, const Viewport& view, float width, float height);
/// Paints the panel. Its content is drawn after this and before the frame of the visible part.
void paintMinimapPanel(ImDrawList& list, const Minimap& map, resources::Theme theme);
void paintMinimapFrame(ImDrawList& list, const Minimap& map, const Rect& inSight, resources::Theme theme);

} // namespace residua::editor
