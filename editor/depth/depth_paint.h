// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/minimap.h"
#include "editor/canvas/viewport.h"
#include "editor/depth/arc_picture.h"
#include "editor/depth/depth_scene.h"
#include "editor/depth/shortcut_drag.h"
#include "editor/shortcuts/live_weights.h"
#include "editor/shortcuts/port_row.h"
#include "projects/commands/selection.h"
#include "resources/colours.h"

#include <imgui.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::editor {

/// A picture of the arcs that was made before.
struct ArcSheet {
    void* texture = nullptr; ///< Dear ImGui's handle
    Rect shows;              ///< scene units
};

/// The arcs with learned weights that remain in a picture of very many.
struct ThinnedArcs {
    std::size_t drawn = 0;
    std::size_t all = 0;
    double least = 0; ///< smallest strength of a drawn arc, as a share of the scale
};

/// All data for drawing one frame.
struct DepthPicture {
    const DepthScene& scene;
    const Viewport& view;
    const projects::Selection& selection;
    const LiveWeights& weights;
    const projects::Project& project;
    const std::vector<DepthPort>& ports;
    std::optional<projects::Shortcut> hoveredShortcut;
    std::optional<std::int64_t> hoveredModule;
    resources::Theme theme = resources::Theme::Light;
    float width = 0;
    float height = 0;
    std::optional<ArcSheet> sheet = {};      ///< if there is one
    std::optional<ThinnedArcs> thinned = {}; ///< of the sheet
};

/// The largest number of visible arcs, one for each visible port, that are drawn one by one. If there are more, the
/// picture of all arcs is drawn, with hovered and selected arcs over it.
inline constexpr std::size_t kMostStrokes = 900;
[[nodiscard]] std::size_t strokesInSight(const DepthPicture& picture);
/// Returns the style of every arc.
[[nodiscard]] std::vector<ArcInk> inksOf(const DepthPicture& picture);

/// Removes the weakest arcs if more than kMostStrokes have learned weights, because together they would cover all
/// others. Keeps selected arcs. Returns nullopt if all remain.
std::optional<ThinnedArcs> thinOut(std::vector<ArcInk>& inks);
/// True if an arc has the colour of a weight.
[[nodiscard]] bool hasWeighedArc(const DepthPicture& picture);

/// Returns the mean share that the step runs of the layers of the box; 0 if it runs none of them.
[[nodiscard]] double activeShareOf(const DepthPicture& picture, const LayerBox& box);

void paintDepth(ImDrawList& list, const DepthPicture& picture);
/// Draws the arcs; called by paintDepth().
void paintArcs(ImDrawList& list, const DepthPicture& picture);
void paintDrag(ImDrawList& list, const DepthPicture& picture, const DragPreview& drag);
/// Draws the minimap: the outline of the arcs' heights, the row as a bar, and the selection.
void paintDepthOverview(ImDrawList& list, const DepthPicture& picture, const Minimap& map,
                        const std::vector<float>& skyline);
void paintSelectionBox(ImDrawList& list, const DepthPicture& picture, const Rect& screenArea);

} // namespace residua::editor
