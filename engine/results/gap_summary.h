// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/gap.h"

#include <cstddef>
#include <string>
#include <vector>

/// The fits of a network's weights summed up, sorted and written down. Any thread.
namespace residua::engine {

/// One method's figures over all weights that it was fitted to.
struct GapTotal {
    double relativeError = 0; ///< Σ functionError over Σ fullFunction
    double seconds = 0;
    std::size_t weights = 0;
};
[[nodiscard]] GapTotal totalOf(const Gap& gap, std::size_t method);

enum class GapOrder {
    Layer, ///< as the network has them
    Size,  ///< numbers of the full weight, the most first
    Error, ///< of the first method, the largest first
};
/// The weights in this order.
[[nodiscard]] std::vector<std::size_t> ordered(const Gap& gap, GapOrder order);

/// Every fit that is there as a line, in the order of `weights`.
[[nodiscard]] std::string csvOf(const Gap& gap, const std::vector<std::size_t>& weights);

} // namespace residua::engine
