// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace residua::projects {

/// What a run cost, and the loss it came to.
struct CostAndLoss {
    double cost = 0;
    double loss = 0; ///< NaN: it came to none
};
/// Indexes of the runs that no other beats: none is as cheap with a lower loss, or cheaper with the same one. By rising
/// cost.
[[nodiscard]] std::vector<std::size_t> paretoFront(std::span<const CostAndLoss> runs);

} // namespace residua::projects
