// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"
#include "editor/canvas/viewport.h"
#include "editor/depth/depth_scene.h"
#include "editor/shortcuts/live_weights.h"
#include "editor/shortcuts/port_row.h"
#include "resources/colours.h"

#include <imgui.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::editor {

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
};

/// A shortcut that is being drawn, and what stands beside the pointer.
struct DragPreview {
    std::int64_t source = 0;
    std::optional<std::int64_t> target; ///< the module under the pointer
    Point pointer;                      ///< on the screen
    std::vector<std::string> lines;
    bool valid = false;
};

void paintDepth(ImDrawList& list, const DepthPicture& picture);
/// Part of paintDepth.
void paintArcs(ImDrawList& list, const DepthPicture& picture);
void paintDrag(ImDrawList& list, const DepthPicture& picture, const DragPreview& drag);
void paintSelectionBox(ImDrawList& list, const DepthPicture& picture, const Rect& screenArea);

} // namespace residua::editor
