// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"

#include <cstdint>
#include <vector>

namespace residua::visualizers {

/// The weights that targets give to the entry so many places before them.
struct DistanceWeights {
    std::int64_t distance = 0; ///< target − source; 1: the entry just before
    std::int64_t count = 0;    ///< of weights
    double median = 0;
    double high = 0; ///< the 90th percentile
};

/// The weights of a matrix by distance, ascending; distances without a weight are left out. Percentiles lie between
/// neighbouring values where they fall between them. After DeepCrossAttention's figure 10, which has the same of each
/// layer's features.
[[nodiscard]] std::vector<DistanceWeights> weightsByDistance(const engine::Matrix& matrix);

} // namespace residua::visualizers
