// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace residua {

/// Every integer up to this one is exact in a double.
inline constexpr std::int64_t kMostExactWhole = std::int64_t{1} << 53;

/// Converts a count or size to double, so that products of very large values saturate instead of overflowing.
[[nodiscard]] constexpr double real(std::int64_t value)
{
    return static_cast<double>(value);
}

} // namespace residua
