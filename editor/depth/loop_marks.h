// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"
#include "editor/canvas/paint_tools.h"
#include "editor/scenes/depth_picture.h"

#include <imgui.h>

#include <cstddef>
#include <string>
#include <vector>

// The loops below the row of the depth canvas: their brackets, and the controls on them.
namespace residua::editor {

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
