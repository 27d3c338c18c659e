// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstddef>
#include <optional>
#include <string>

namespace residua::engine {

/// One message between a program and an engine's process. On the wire, a header of three little-endian 32-bit numbers
/// (kFrameMagic, the bytes of `json`, the bytes of `numbers`) is followed by both.
struct Frame {
    std::string json;
    std::string
        numbers; ///< the float32 values of matrices, in the byte order of the machine; `json` tells their counts
    bool operator==(const Frame&) const = default;
};

inline constexpr unsigned kFrameMagic = 0x31445352; // "RSD1"
/// The maximum size of each part of a frame, in bytes. A longer one is refused by writer and reader.
inline constexpr std::size_t kMostFrameBytes = std::size_t{1} << 30;

/// Writes the frame to a file descriptor; blocks until all of it is written. The error tells why it is not.
[[nodiscard]] Status writeFrame(int descriptor, const Frame& frame);
/// Reads the next frame; blocks until it is complete. Returns nullopt if the other side ended between two frames.
/// Memory is taken as bytes arrive, so a header alone takes none.
[[nodiscard]] Result<std::optional<Frame>> readFrame(int descriptor);

} // namespace residua::engine
