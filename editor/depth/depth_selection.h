// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/depth/depth_scene.h"
#include "projects/commands/selection.h"

#include <cstddef>
#include <cstdint>

// What is selected on the depth canvas after a click, a box or an arrow key.
namespace residua::editor {

enum class Pick {
    Alone,
    Additive, ///< adds to the selection; what is selected already as a whole is deselected
};
/// The selection after a click on what lies under the pointer.
[[nodiscard]] projects::Selection clicked(const DepthScene& scene, const projects::Selection& selection, const Hit& hit,
                                          Pick pick);
/// What a right click on `hit` is about: the selection where that is part of it, else it alone.
[[nodiscard]] projects::Selection pointedAt(const DepthScene& scene, const projects::Selection& selection,
                                            const Hit& hit);
/// The selection after a box was drawn over `area` of the scene. Under Pick::Additive nothing is deselected.
[[nodiscard]] projects::Selection boxed(const DepthScene& scene, const projects::Selection& selection, const Rect& area,
                                        Pick pick);

enum class Step {
    Move,
    Extend, ///< keeps what is selected
};
/// The box to the left (`by` −1) or right (1) of the selected layers; with none selected, the row's first or last.
[[nodiscard]] projects::Selection layerBeside(const DepthScene& scene, const projects::Selection& selection,
                                              std::int64_t by, Step step);

/// Among what the selected layer, or the target of the selected shortcut, reads: the next longer arc (`by` 1) or the
/// next shorter one (−1); below the shortest the layer itself.
[[nodiscard]] projects::Selection shortcutBeside(const DepthScene& scene, const projects::Selection& selection,
                                                 std::ptrdiff_t by);

} // namespace residua::editor
