// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/weight_scale.h"

#include "projects/base/text.h"

#include <algorithm>
#include <cmath>

namespace residua::projects {
namespace {

constexpr int kDigits = 3;                 ///< significant digits of the ends of a scale
constexpr double kLeastMagnitude = 1e-300; ///< smallest magnitude whose digits can be counted
constexpr int kFewestDecimals = 2;
constexpr int kMostDecimals = 6;

/// Rounds a magnitude up to a few digits, so that a legend can show it in full and the ends shown enclose every value.
double roundedUp(double magnitude)
{
    if (!(magnitude > kLeastMagnitude) || !std::isfinite(magnitude)) {
        return magnitude;
    }
    constexpr double kNoise = 1e-9; // rounding error of the division; a value with few digits stays unchanged
    const double unit = std::pow(10.0, std::floor(std::log10(magnitude)) + 1 - kDigits);
    const double units = std::ceil(magnitude / unit - kNoise);
    return unit < 1 ? units / std::round(1 / unit) : units * unit; // a power of ten below 1 is not exact
}

std::optional<double> centreOf(const Wiring* wiring, WeightQuantity quantity, double smallest)
{
    if (quantity == WeightQuantity::Spread) {
        return std::nullopt;
    }
    const auto* mix = wiring != nullptr ? std::get_if<DepthMix>(wiring) : nullptr;
    if (mix == nullptr) {
        return smallest < 0 ? std::optional(0.0) : std::nullopt;
    }
    if (quantity == WeightQuantity::Weight && mix->normalise != NormaliseOver::None) {
        return std::nullopt;
    }
    return mix->init == MixInit::Ones ? 1.0 : 0.0;
}

} // namespace

double WeightScale::reach() const
{
    return centre ? std::max(high - *centre, *centre - low) : high - low;
}

double WeightScale::strength(double weight) const
{
    const double reach = this->reach();
    const double from = centre ? std::abs(weight - *centre) : low < 0 ? weight - low : std::abs(weight);
    return reach > 0 ? std::clamp(from / reach, 0.0, 1.0) : 0.0;
}

WeightScale weightScale(const Wiring* wiring, WeightQuantity quantity, double smallest, double largest)
{
    const auto centre = centreOf(wiring, quantity, smallest);
    if (!centre) {
        return magnitudeScale(std::max(largest, kLeastReach));
    }
    const double reach = roundedUp(std::max({largest - *centre, *centre - smallest, kLeastReach}));
    return {centre, *centre - reach, *centre + reach};
}

void FiniteRange::add(double value)
{
    if (std::isfinite(value)) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
}

void FiniteRange::add(const FiniteRange& other)
{
    low = std::min(low, other.low);
    high = std::max(high, other.high);
}

WeightScale weightScale(const Wiring* wiring, WeightQuantity quantity, const FiniteRange& numbers)
{
    return numbers.empty() ? weightScale(wiring, quantity, 0, 1)
                           : weightScale(wiring, quantity, numbers.low, numbers.high);
}

int decimalsOf(const WeightScale& scale)
{
    const double reach = scale.reach();
    return reach > kLeastMagnitude && std::isfinite(reach)
               ? std::clamp(kDigits - static_cast<int>(std::ceil(std::log10(reach))), kFewestDecimals, kMostDecimals)
               : kFewestDecimals;
}

std::string weightText(double weight, const WeightScale& scale)
{
    if (!std::isfinite(weight)) {
        return std::isnan(weight) ? "NaN" : weight > 0 ? "∞" : "-∞";
    }
    const std::string text = fixedText(weight, decimalsOf(scale));
    const bool hidden = weight != 0 && numberFrom<double>(text).value_or(0) == 0;
    return hidden ? numberText(weight, 2) : text;
}

WeightScale differenceScale(double smallest, double largest)
{
    const double reach = roundedUp(std::max({largest, -smallest, 0.0}));
    return {0.0, -reach, reach};
}

WeightScale magnitudeScale(double largest)
{
    return {std::nullopt, 0, roundedUp(largest)};
}

} // namespace residua::projects
