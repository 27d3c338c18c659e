// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cmath>
#include <numbers>

/// Draws of N(0, 1) from draws of the uniform distribution on (0, 1), by Box and Muller.
namespace residua {

/// One of two.
[[nodiscard]] inline double gaussianFrom(double first, double second)
{
    return std::sqrt(-2.0 * std::log(first)) * std::cos(2.0 * std::numbers::pi * second);
}

/// Two independent ones of two.
[[nodiscard]] inline std::array<double, 2> gaussianPair(double first, double second)
{
    const double radius = std::sqrt(-2.0 * std::log(first));
    const double angle = 2.0 * std::numbers::pi * second;
    return {radius * std::cos(angle), radius * std::sin(angle)};
}

} // namespace residua
