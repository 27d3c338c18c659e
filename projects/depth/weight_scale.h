// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/topology.h"

#include <limits>
#include <optional>
#include <string>

namespace residua::projects {

/// The quantity in a recorded matrix.
enum class WeightQuantity {
    Weight,      ///< the factor of an entry
    Spread,      ///< the standard deviation of weights over features or tokens
    Coefficient, ///< the learned value of a weight, before a softmax
};

/// The colour scale of weights. Without a centre, values are magnitudes from 0 to `high`. With a centre, they are
/// signed about it and range from `low` to `high`, symmetric about the centre.
struct WeightScale {
    std::optional<double> centre = {};
    double low = 0;
    double high = 1;

    /// Returns the distance of the end from the centre, or from `low` if there is no centre.
    [[nodiscard]] double reach() const;
    /// Returns the strength of the colour of a weight, in [0, 1].
    [[nodiscard]] double strength(double weight) const;
    bool operator==(const WeightScale&) const = default;
};

inline constexpr double kLeastReach = 0.05; ///< of a scale of weights, whose entries have weights of about 1

/// The minimum and maximum of the finite numbers that were added.
struct FiniteRange {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    [[nodiscard]] bool empty() const { return low > high; }
    void add(double value);
    void add(const FiniteRange& other);
};

/// Returns the scale of numbers from `smallest` to `largest`. Canvases, heatmap and report all use it. It reaches at
/// least kLeastReach, so that weights that have hardly moved look alike. Spreads, and weights from a softmax, are
/// magnitudes. Other numbers of a depth mix are signed about their common initial value, or about 0. Numbers
/// of another or unknown (null) wiring are signed about 0 if some are negative.
[[nodiscard]] WeightScale weightScale(const Wiring* wiring, WeightQuantity quantity, double smallest, double largest);

/// Returns the scale of all matrices of one kind, whatever their ports; from 0 to 1 if there are no numbers.
[[nodiscard]] WeightScale weightScale(const Wiring* wiring, WeightQuantity quantity, const FiniteRange& numbers);

/// Returns the number of decimals of weights on this scale: three significant digits of its reach, at least 2.
[[nodiscard]] int decimalsOf(const WeightScale& scale);
/// Formats a weight for people with the decimals of its scale, so that it has the same digits wherever it is shown:
/// "0.882", "1.0030". A number that they would show as zero has two significant digits instead.
[[nodiscard]] std::string weightText(double weight, const WeightScale& scale);

/// Returns the scale of differences from `smallest` to `largest`: signed about 0 and symmetric.
[[nodiscard]] WeightScale differenceScale(double smallest, double largest);
/// Returns the scale of shares and other magnitudes up to `largest`.
[[nodiscard]] WeightScale magnitudeScale(double largest);

} // namespace residua::projects
