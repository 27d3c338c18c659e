// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace residua {

/// The initial value and the one-byte step of the 64-bit FNV-1a hash. It is fast and even, but collisions are easy to
/// construct.
inline constexpr std::uint64_t kFnvStart = 0xcbf29ce484222325;

[[nodiscard]] constexpr std::uint64_t fnvStep(std::uint64_t hash, std::uint8_t byte)
{
    return (hash ^ std::uint64_t{byte}) * 0x100000001b3;
}

} // namespace residua
