// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"

#include <compare>
#include <cstdint>
#include <set>
#include <vector>

// The layers that are drawn as one box. Part of the view's state.
namespace residua::editor {

/// Consecutive layers first..last.
struct LayerRun {
    std::int64_t first = 1;
    std::int64_t last = 1;
    auto operator<=>(const LayerRun&) const = default;
};
/// Returns the maximal ranges of two or more layers that use the same block.
[[nodiscard]] std::vector<LayerRun> identicalRuns(const projects::Network& network);

/// Returns the folds whose layers still use the same block after an edit.
[[nodiscard]] std::vector<LayerRun> stillFolded(const projects::Network& network, std::vector<LayerRun> folds);
/// Unfolds the folds among `layers`; if there are none, folds the ranges of `layers`. Empty `layers` means all layers.
[[nodiscard]] std::vector<LayerRun> toggled(const projects::Network& network, std::vector<LayerRun> folds,
                                            const std::set<std::int64_t>& layers);

} // namespace residua::editor
