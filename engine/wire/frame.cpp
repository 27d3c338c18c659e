// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/wire/frame.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace residua::engine {
namespace {

constexpr const char* kPlace = "engine's connection";
constexpr std::size_t kPart = std::size_t{1} << 20; ///< bytes read at once
using Header = std::array<std::uint32_t, 3>;

Error systemError(const char* what)
{
    return {kPlace, std::string(what) + ": " + std::strerror(errno)};
}

Status writeAll(int descriptor, const char* bytes, std::size_t count)
{
    while (count > 0) {
        const ssize_t written = write(descriptor, bytes, count);
        if (written < 0 && errno != EINTR) {
            return systemError("cannot be written");
        }
        bytes += std::max<ssize_t>(written, 0);
        count -= static_cast<std::size_t>(std::max<ssize_t>(written, 0));
    }
    return Done{};
}

/// Appends `count` bytes to `to`, fewer at the end of the stream.
Status readInto(int descriptor, std::string& to, std::size_t count)
{
    const std::size_t whole = to.size() + count;
    while (to.size() < whole) {
        const std::size_t have = to.size();
        to.resize(std::min(whole, have + kPart));
        const ssize_t got = read(descriptor, to.data() + have, to.size() - have);
        to.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got < 0 && errno != EINTR) {
            return systemError("cannot be read");
        }
        if (got == 0) {
            break;
        }
    }
    return Done{};
}

Error tooLong(std::size_t bytes)
{
    return {kPlace, "carries a message of " + std::to_string(bytes) + " bytes; expected at most " +
                        std::to_string(kMostFrameBytes)};
}

} // namespace

Status writeFrame(int descriptor, const Frame& frame)
{
    if (const std::size_t most = std::max(frame.json.size(), frame.numbers.size()); most > kMostFrameBytes) {
        return tooLong(most);
    }
    const Header header{kFrameMagic, static_cast<std::uint32_t>(frame.json.size()),
                        static_cast<std::uint32_t>(frame.numbers.size())};
    std::string start(sizeof header, '\0');
    std::memcpy(start.data(), header.data(), sizeof header);
    start += frame.json; // with the header, so that a short message takes one call
    const Status written = writeAll(descriptor, start.data(), start.size());
    return written ? writeAll(descriptor, frame.numbers.data(), frame.numbers.size()) : written;
}

Result<std::optional<Frame>> readFrame(int descriptor)
{
    std::string start;
    Header header{};
    if (const Status got = readInto(descriptor, start, sizeof header); !got) {
        return got.error();
    }
    if (start.empty()) {
        return std::optional<Frame>();
    }
    std::memcpy(header.data(), start.data(), start.size());
    if (start.size() < sizeof header || header[0] != kFrameMagic) {
        return Error{kPlace, "carries something else than messages of an engine"};
    }
    if (const std::size_t most = std::max(header[1], header[2]); most > kMostFrameBytes) {
        return tooLong(most);
    }
    Frame frame;
    Status got = readInto(descriptor, frame.json, header[1]);
    if (got) {
        got = readInto(descriptor, frame.numbers, header[2]);
    }
    if (!got) {
        return got.error();
    }
    if (frame.json.size() < header[1] || frame.numbers.size() < header[2]) {
        return Error{kPlace, "ended within a message"};
    }
    return std::optional(std::move(frame));
}

} // namespace residua::engine
