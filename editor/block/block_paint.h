// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"
#include "editor/canvas/panned_view.h"
#include "editor/scenes/block_scene.h"
#include "editor/scenes/viewport.h"
#include "projects/graphs/graph_edits.h"
#include "resources/colours.h"

#include <imgui.h>

#include <optional>
#include <string>

namespace residua::editor {

/// All data for drawing one frame.
struct BlockPicture {
    const BlockScene& scene;
    const Viewport& view;
    const projects::Selection& selection;
    BlockHit hovered;
    std::optional<projects::PortSide> wanted; ///< the ports that a wire being drawn may end at
    std::optional<projects::Wire> lifted;     ///< a wire that was picked up and is drawn elsewhere
    resources::Theme theme = resources::Theme::Light;
    float width = 0;
    float height = 0;
};

/// A wire that is being drawn, with the text beside the pointer.
struct WirePreview {
    Point from;    ///< on the screen
    Point pointer; ///< on the screen
    std::string title;
    std::optional<projects::WireCheck> check; ///< of the port under the pointer
};

void paintBlock(ImDrawList& list, const BlockPicture& picture);
/// Paints the shapes at the wires and the messages at the nodes; called by paintBlock().
void paintBlockLabels(ImDrawList& list, const BlockPicture& picture);
/// Paints all nodes, small, and the frame of the visible part.
void paintBlockMap(ImDrawList& list, const BlockPicture& picture, const Minimap& map);
void paintWirePreview(ImDrawList& list, const BlockPicture& picture, const WirePreview& preview);
/// Paints the full description of the thing under the pointer.
void paintBlockBadge(ImDrawList& list, const BlockPicture& picture, Point pointer);
void paintBlockBox(ImDrawList& list, const BlockPicture& picture, const Rect& screenArea);

} // namespace residua::editor
