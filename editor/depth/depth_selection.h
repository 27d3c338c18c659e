// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/depth_scene.h"
#include "projects/commands/selection.h"

#include <cstddef>
#include <cstdint>

// The selection on the depth canvas after a click, a box or an arrow key.
namespace residua::editor {

enum class Pick {
    Alone,
    Additive, ///< adds to the selection; deselects things that are wholly selected
};
/// Returns the selection after a click on `hit`.
[[nodiscard]] projects::Selection clicked(const DepthScene& scene, const projects::Selection& selection, const Hit& hit,
                                          Pick pick);
/// Returns the target of a right click on `hit`: the selection if `hit` is part of it, else `hit` alone.
[[nodiscard]] projects::Selection pointedAt(const DepthScene& scene, const projects::Selection& selection,
                                            const Hit& hit);
/// Returns the selection after a box was drawn over `area` of the scene. Under Pick::Additive nothing is deselected.
[[nodiscard]] projects::Selection boxed(const DepthScene& scene, const projects::Selection& selection, const Rect& area,
                                        Pick pick);

enum class Step {
    Move,
    Extend, ///< keeps the selection
};
/// Selects the box to the left (`by` −1) or right (1) of the selected layers, or the row's first or last if none is
/// selected.
[[nodiscard]] projects::Selection layerBeside(const DepthScene& scene, const projects::Selection& selection,
                                              std::int64_t by, Step step);

/// Selects among the sources of the selected layer, or of the target of the selected shortcut: the next longer arc
/// (`by` 1) or the next shorter one (−1). Below the shortest, selects the layer itself.
[[nodiscard]] projects::Selection shortcutBeside(const DepthScene& scene, const projects::Selection& selection,
                                                 std::ptrdiff_t by);

} // namespace residua::editor
