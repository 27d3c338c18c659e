// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/topology.h"

#include <limits>
#include <optional>

namespace residua::projects {

/// What the numbers of a recorded matrix are.
enum class WeightQuantity {
    Weight,      ///< what entries are multiplied by
    Spread,      ///< the standard deviation of weights over features or tokens
    Coefficient, ///< what is learned for a weight, before a softmax
};

/// How weights are coloured. Without a centre they are magnitudes from 0 to `high`; with one they are signed about it
/// and run from `low` to `high`, as far below it as above.
struct WeightScale {
    std::optional<double> centre = {};
    double low = 0;
    double high = 1;

    /// How strongly a weight stands out, in [0, 1].
    [[nodiscard]] double strength(double weight) const;
    bool operator==(const WeightScale&) const = default;
};

/// The least and the greatest of the finite numbers that were added.
struct FiniteRange {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    [[nodiscard]] bool empty() const { return low > high; }
    void add(double value);
    void add(const FiniteRange& other);
};

/// The scale of numbers from `smallest` to `largest`, the one rule of canvases, heatmap and report. Spreads, and
/// weights that a softmax makes, are magnitudes. Other numbers of a depth mix are signed about the value that all of
/// them start at, or about 0. Those of another wiring, or of an unknown one (null), are signed about 0 where some are
/// negative.
[[nodiscard]] WeightScale weightScale(const Wiring* wiring, WeightQuantity quantity, double smallest, double largest);

/// The same of all matrices of one kind, whatever their ports; from 0 to 1 where there are no numbers.
[[nodiscard]] WeightScale weightScale(const Wiring* wiring, WeightQuantity quantity, const FiniteRange& numbers);

/// The scale of differences from `smallest` to `largest`: signed about 0, as far below it as above.
[[nodiscard]] WeightScale differenceScale(double smallest, double largest);
/// The scale of shares and other magnitudes up to `largest`.
[[nodiscard]] WeightScale magnitudeScale(double largest);

} // namespace residua::projects
