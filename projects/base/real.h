// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from text.h, so that code that computes need not include what formats.

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
