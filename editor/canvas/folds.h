// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"

#include <compare>
#include <cstdint>
#include <set>
#include <vector>

// Which layers are drawn as one box. A state of the view.
namespace residua::editor {

/// Layers first..last, neighbours in the stack.
struct LayerRun {
    std::int64_t first = 1;
    std::int64_t last = 1;
    auto operator<=>(const LayerRun&) const = default;
};
/// Runs of two layers and more that are of one block, as long as they can be.
[[nodiscard]] std::vector<LayerRun> identicalRuns(const projects::Network& network);

/// Those folds whose layers are still alike after an edit.
[[nodiscard]] std::vector<LayerRun> stillFolded(const projects::Network& network, std::vector<LayerRun> folds);
/// Unfolds what is folded among `layers`, or else folds their runs; of all layers where there are none.
[[nodiscard]] std::vector<LayerRun> toggled(const projects::Network& network, std::vector<LayerRun> folds,
                                            const std::set<std::int64_t>& layers);

} // namespace residua::editor
