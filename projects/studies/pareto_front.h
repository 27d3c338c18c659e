// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/objective.h"

#include <cstddef>
#include <span>
#include <vector>

namespace residua::projects {

/// The cost of a run and the value that it is judged by.
struct CostAndValue {
    double cost = 0;
    double value = 0; ///< NaN if unknown
};
/// Returns the indices of the runs on the Pareto front: no other run is at most as expensive with a better
/// value, or cheaper with the same value. Sorted by cost.
[[nodiscard]] std::vector<std::size_t> paretoFront(std::span<const CostAndValue> runs, const Judge& judge = {});

} // namespace residua::projects
