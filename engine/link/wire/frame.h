// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace residua::engine {

/// One message between a program and an engine's process. On the wire, a header of five little-endian 32-bit numbers is
/// followed by `json` and `numbers`. The header has kFrameMagic, the bytes of both parts, the CRC-32C of both, and the
/// CRC-32C of the four numbers before it, so that a damaged length is found before it is waited for.
struct Frame {
    std::string json;
    std::string numbers; ///< the float32 values of matrices, in the byte order of the machine, and long texts; `json`
                         ///< tells their counts
    bool operator==(const Frame&) const = default;
};

inline constexpr unsigned kFrameMagic = 0x32445352; // "RSD2"
/// The maximum sizes of the parts of a frame, in bytes. Longer ones are refused by writer and reader. A tree of JSON
/// takes many times the memory of its text.
inline constexpr std::size_t kMostJsonBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMostNumberBytes = std::size_t{1} << 30;

/// Begins the message of an error for bytes that are no message.
inline constexpr const char* kNoMessage = "carries something else than messages of an engine";

/// The events that end a wait for the other side's bytes.
struct FrameWait {
    int cancel = -1;  ///< a descriptor that becomes readable to end the wait at once
    int reverse = -1; ///< a descriptor that becomes readable, or fails, if the opposite direction is closed. The wait
                      ///< then continues for two seconds, in which this direction usually ends too.
    std::optional<std::chrono::steady_clock::time_point> until = {}; ///< the end of a message's wait
    std::optional<std::chrono::seconds> silence = {};                ///< the longest time without a byte
};

/// Returns an error that tells the size of a frame that is longer than the limits.
[[nodiscard]] Status checkSize(const Frame& frame);
/// Writes the frame to a file descriptor; blocks until all of it is written. The error tells why it is not. `wait`
/// applies to descriptors with O_NONBLOCK.
[[nodiscard]] Status writeFrame(int descriptor, const Frame& frame, const FrameWait& wait = {});
/// Reads the next frame; blocks until it is complete. Returns nullopt if the other side ended between two frames.
/// Memory is taken as bytes arrive, so a header alone takes none. If the other side sends something else, the error
/// quotes its first line.
[[nodiscard]] Result<std::optional<Frame>> readFrame(int descriptor, const FrameWait& wait = {});
/// Waits until bytes can be read, or the other side has ended.
[[nodiscard]] Status awaitBytes(int descriptor, const FrameWait& wait);

} // namespace residua::engine
