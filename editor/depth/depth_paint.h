// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"
#include "editor/canvas/paint_tools.h"
#include "editor/canvas/panned_view.h"
#include "editor/depth/arc_picture.h"
#include "editor/depth/shortcut_drag.h"
#include "editor/scenes/depth_picture.h"
#include "editor/shortcuts/port_row.h"

#include <imgui.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// The loops below the row of the depth canvas: their brackets, and the controls on them.
namespace residua::editor {

[[nodiscard]] std::size_t strokesInSight(const DepthPicture& picture);

/// Removes the weakest arcs if more than kMostStrokes have learned weights, because together they would cover all
/// others. Keeps selected arcs. Returns nullopt if all remain.
std::optional<ThinnedArcs> thinOut(std::vector<ArcInk>& inks);
void paintDepth(ImDrawList& list, const DepthPicture& picture);
/// Draws the boxes of a row with the wires along it, or above it for a wiring that is not a mix.
void paintRow(ImDrawList& list, const DepthPicture& picture);
/// Draws the other towers, the wires of values and the losses.
void paintTowers(ImDrawList& list, const DepthPicture& picture);
/// Draws the names of the rows, and what describes the thing at the pointer.
void paintTowerTexts(ImDrawList& list, const DepthPicture& picture);
/// Draws the arcs; called by paintDepth().
void paintArcs(ImDrawList& list, const DepthPicture& picture);
void paintDrag(ImDrawList& list, const DepthPicture& picture, const DragPreview& drag);
/// Draws the minimap: the outline of the arcs' heights, the row as a bar, and the selection.
void paintDepthOverview(ImDrawList& list, const DepthPicture& picture, const Minimap& map,
                        const std::vector<float>& skyline);
void paintSelectionBox(ImDrawList& list, const DepthPicture& picture, const Rect& screenArea);

/// A control of a loop.
struct LoopChip {
    LoopPart part = LoopPart::Visits;
    std::size_t bracket = 0; ///< index in DepthScene::loops()
    Chip chip;
};
/// Returns the controls of the loops in sight that have room for them.
[[nodiscard]] std::vector<LoopChip> loopChips(const DepthPicture& picture);

/// Paints the loops with their controls. `pointer` is on the screen.
void paintLoops(ImDrawList& list, const DepthPicture& picture, Point pointer);

/// Returns the lines that describe a loop at the pointer.
[[nodiscard]] std::vector<std::string> describe(const DepthPicture& picture, const LoopBracket& bracket);

} // namespace residua::editor
