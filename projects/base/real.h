// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace residua {

/// Up to it a double holds every whole number.
inline constexpr std::int64_t kMostExactWhole = std::int64_t{1} << 53;

/// A count or size as a double, so that products of absurd ones saturate instead of overflowing.
[[nodiscard]] constexpr double real(std::int64_t value)
{
    return static_cast<double>(value);
}

} // namespace residua
