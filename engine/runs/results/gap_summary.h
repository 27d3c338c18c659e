// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/gap.h"

#include <cstddef>
#include <string>
#include <vector>

/// Summaries, orders and files of the fits of a network's weights. Any thread.
namespace residua::engine {

/// The totals of one method over all weights that it was fitted to.
struct GapTotal {
    double relativeError = 0; ///< Σ functionError over Σ fullFunction
    double seconds = 0;
    std::size_t weights = 0;
};
[[nodiscard]] GapTotal totalOf(const Gap& gap, std::size_t method);

enum class GapOrder {
    Layer, ///< the network's order
    Size,  ///< by the number of elements of the full weight, largest first
    Error, ///< by the error of the first method, largest first
};
/// Returns the indices of the weights in this order.
[[nodiscard]] std::vector<std::size_t> ordered(const Gap& gap, GapOrder order);

/// Returns every finished fit as a line, in the order of `weights`.
[[nodiscard]] std::string csvOf(const Gap& gap, const std::vector<std::size_t>& weights);

} // namespace residua::engine
