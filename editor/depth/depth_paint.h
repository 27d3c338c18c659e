// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/minimap.h"
#include "editor/depth/arc_picture.h"
#include "editor/depth/shortcut_drag.h"
#include "editor/scenes/depth_picture.h"
#include "editor/shortcuts/port_row.h"

#include <imgui.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace residua::editor {

[[nodiscard]] std::size_t strokesInSight(const DepthPicture& picture);

/// Removes the weakest arcs if more than kMostStrokes have learned weights, because together they would cover all
/// others. Keeps selected arcs. Returns nullopt if all remain.
std::optional<ThinnedArcs> thinOut(std::vector<ArcInk>& inks);
void paintDepth(ImDrawList& list, const DepthPicture& picture);
/// Draws the arcs; called by paintDepth().
void paintArcs(ImDrawList& list, const DepthPicture& picture);
void paintDrag(ImDrawList& list, const DepthPicture& picture, const DragPreview& drag);
/// Draws the minimap: the outline of the arcs' heights, the row as a bar, and the selection.
void paintDepthOverview(ImDrawList& list, const DepthPicture& picture, const Minimap& map,
                        const std::vector<float>& skyline);
void paintSelectionBox(ImDrawList& list, const DepthPicture& picture, const Rect& screenArea);

} // namespace residua::editor
