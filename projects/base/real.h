// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace residua::projects {

/// A count or size as a double, so that products of absurd ones saturate instead of overflowing.
[[nodiscard]] constexpr double real(std::int64_t value)
{
    return static_cast<double>(value);
}

} // namespace residua::projects
