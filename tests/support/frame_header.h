// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/content_hash.h"
#include "engine/link/wire/frame.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace residua::tests {

/// Room for half of the largest message, which is read into memory that grows by doubling.
inline constexpr std::int64_t kRoomForHalfAMessage = engine::kMostNumberBytes / 2;

/// Returns the header of a frame with parts of these sizes in bytes, and an empty content's checksum.
[[nodiscard]] inline std::string headerOf(std::uint32_t json, std::uint32_t numbers)
{
    std::array<std::uint32_t, 5> values{engine::kFrameMagic, json, numbers, 0, 0};
    values[4] = engine::crc32c(std::as_bytes(std::span(values)).first(16));
    return {reinterpret_cast<const char*>(values.data()), sizeof values};
}

} // namespace residua::tests
