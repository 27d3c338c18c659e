// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/minimap.h"
#include "editor/canvas/viewport.h"
#include "editor/depth/arc_ink.h"
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
    void* texture = nullptr; ///< as Dear ImGui knows it
    Rect shows;              ///< scene units
};

/// Everything that the drawing of one frame reads.
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
    std::optional<ArcSheet> sheet = {}; ///< where there is one
};

/// Arcs in sight, one for each port that is shown. If there are more than kMostStrokes, the picture of all arcs is
/// drawn, and over it what is pointed at or selected.
inline constexpr std::size_t kMostStrokes = 900;
[[nodiscard]] std::size_t strokesInSight(const DepthPicture& picture);
/// How every arc is drawn in that picture.
[[nodiscard]] std::vector<ArcInk> inksOf(const DepthPicture& picture);

/// How much the step runs of the layers that the box stands for, on average; 0: of none of them anything.
[[nodiscard]] double activeShareOf(const DepthPicture& picture, const LayerBox& box);

void paintDepth(ImDrawList& list, const DepthPicture& picture);
/// The part of paintDepth that draws the arcs.
void paintArcs(ImDrawList& list, const DepthPicture& picture);
void paintDrag(ImDrawList& list, const DepthPicture& picture, const DragPreview& drag);
/// Draws the minimap: the arcs as an outline of their heights, the row as a bar, and on it what is selected.
void paintDepthOverview(ImDrawList& list, const DepthPicture& picture, const Minimap& map,
                        const std::vector<float>& skyline);
void paintSelectionBox(ImDrawList& list, const DepthPicture& picture, const Rect& screenArea);

} // namespace residua::editor
