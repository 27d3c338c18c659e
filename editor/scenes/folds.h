// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"

#include <compare>
#include <cstdint>
#include <set>
#include <vector>

// The layers that are drawn folded: layers of one block as one box, and a loop as its first visit.
namespace residua::editor {

/// Consecutive stored layers first..last. Counted so, a fold does not depend on the visits of loops.
struct LayerRun {
    std::int64_t first = 1;
    std::int64_t last = 1;
    auto operator<=>(const LayerRun&) const = default;
};
/// Returns the ranges that can be folded, ascending: each loop, and between loops the maximal ranges of two or more
/// layers that use the same block.
[[nodiscard]] std::vector<LayerRun> foldableRuns(const projects::Network& network);

/// Returns the folds that remain after an edit. A fold within a loop becomes the loop's.
[[nodiscard]] std::vector<LayerRun> stillFolded(const projects::Network& network, std::vector<LayerRun> folds);
/// Returns the folds after the command that folds and unfolds, for the executed layers `layers`; empty: for all layers.
/// If some of these layers are folded, removes their folds. Otherwise adds a fold for each range of these layers, and
/// for each loop that has one of them.
[[nodiscard]] std::vector<LayerRun> toggled(const projects::Network& network, std::vector<LayerRun> folds,
                                            const std::set<std::int64_t>& layers);

} // namespace residua::editor
