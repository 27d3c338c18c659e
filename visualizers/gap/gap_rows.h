// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/gap.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace residua::visualizers {

/// The place of a weight: "layers.3.attention.q.weight" is in the node "attention" of layer 3.
struct WeightPlace {
    std::int64_t layer = 0; ///< the stored layer, from 1; 0: the stem or the head
    std::string node;
    bool operator==(const WeightPlace&) const = default;
};
[[nodiscard]] WeightPlace placeOfWeight(const std::string& name);
/// Returns the name without the common parts: "3 attention.q".
[[nodiscard]] std::string shortNameOf(const std::string& name);

/// The quantity that the bars show.
enum class GapMeasure { FunctionError, WeightError, Correlation, Seconds };
/// Returns nullopt if there is no fit.
[[nodiscard]] std::optional<double> valueOf(const engine::GapFit& fit, GapMeasure measure);

/// Returns an upper bound on the least relative error of any factors of a weight (theorem 3.5): the error of the
/// spectral start minus the theorem's bound. Returns nullopt if no spectral start was fitted, or the theorem does not
/// apply.
[[nodiscard]] std::optional<double> bestAtMost(const engine::Gap& gap, std::size_t weight);

} // namespace residua::visualizers
