// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace residua::projects {

/// The cost of a run and its loss.
struct CostAndLoss {
    double cost = 0;
    double loss = 0; ///< NaN if unknown
};
/// Returns the indices of the runs on the Pareto front: no other run is at most as expensive with a lower loss, or
/// cheaper with the same loss. Sorted by cost.
[[nodiscard]] std::vector<std::size_t> paretoFront(std::span<const CostAndLoss> runs);

} // namespace residua::projects
