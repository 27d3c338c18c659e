// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/gap.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::visualizers {

/// Where a weight belongs: "layers.3.attention.q.weight" is a part of the node "attention" of layer 3.
struct WeightPlace {
    std::int64_t layer = 0; ///< from 1; 0: of the stem or the head
    std::string node;
    bool operator==(const WeightPlace&) const = default;
};
[[nodiscard]] WeightPlace placeOfWeight(const std::string& name);
/// "3 attention.q": its name without what all have.
[[nodiscard]] std::string shortNameOf(const std::string& name);

/// What the bars are of.
enum class GapMeasure { FunctionError, WeightError, Correlation, Seconds };
/// nullopt where there is no fit.
[[nodiscard]] std::optional<double> valueOf(const engine::GapFit& fit, GapMeasure measure);

/// A line of the table: a weight by a method, or all of them by it.
struct GapRow {
    std::optional<std::size_t> weight; ///< nullopt: all
    std::size_t method = 0;
};
/// First all weights by each method, then each weight by each method in this order.
[[nodiscard]] std::vector<GapRow> rowsOf(const engine::Gap& gap, const std::vector<std::size_t>& order);

/// An upper bound on the least relative error of any factors of a weight, by theorem 3.5: the error of the spectral
/// start less the theorem's bound. nullopt where no spectral start was fitted, or the theorem says nothing of it.
[[nodiscard]] std::optional<double> bestAtMost(const engine::Gap& gap, std::size_t weight);

} // namespace residua::visualizers
