// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"

#include <cstdint>
#include <vector>

namespace residua::visualizers {

/// The weights that targets give to the entry at a distance before them.
struct DistanceWeights {
    std::int64_t distance = 0; ///< target − source; 1: the entry directly before
    std::int64_t count = 0;    ///< of weights
    double median = 0;
    double high = 0; ///< the 90th percentile
};

/// Returns the weights of a matrix by distance, ascending, without distances that have no weights. Percentiles are
/// interpolated between values. After DeepCrossAttention's figure 10, which shows this for each layer's features.
[[nodiscard]] std::vector<DistanceWeights> weightsByDistance(const engine::Matrix& matrix);

} // namespace residua::visualizers
