// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"
#include "editor/depth/depth_scene.h"

#include <cstddef>
#include <cstdint>

// Where the arrow keys lead on the depth canvas.
namespace residua::editor {

enum class Step {
    Move,
    Extend, ///< keeps what is selected
};
/// The box `by` (−1 or 1) beside the selected layers; with none selected the row's end that lies behind.
[[nodiscard]] projects::Selection layerBeside(const DepthScene& scene, const projects::Selection& selection,
                                              std::int64_t by, Step step);

/// Among what the selected layer, or the target of the selected shortcut, reads: the next longer arc (`by` 1) or the
/// next shorter one (−1); below the shortest the layer itself.
[[nodiscard]] projects::Selection shortcutBeside(const DepthScene& scene, const projects::Selection& selection,
                                                 std::ptrdiff_t by);

} // namespace residua::editor
