// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace residua {

/// Where the hash FNV-1a of 64 bits starts, and its step for one more byte: fast and even; collisions are easy to make.
inline constexpr std::uint64_t kFnvStart = 0xcbf29ce484222325;

[[nodiscard]] constexpr std::uint64_t fnvStep(std::uint64_t hash, std::uint8_t byte)
{
    return (hash ^ std::uint64_t{byte}) * 0x100000001b3;
}

} // namespace residua
