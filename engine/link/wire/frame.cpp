// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/wire/frame.h"

#include "engine/base/files/content_hash.h"
#include "projects/base/files.h"
#include "projects/base/text.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace residua::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kPlace = "engine's connection";
constexpr std::size_t kPart = std::size_t{1} << 20; ///< bytes read at once
constexpr std::chrono::seconds kOtherDirection{2};  ///< after which a connection with one direction has ended
constexpr std::chrono::seconds kRestOfLine{1};      ///< for a line of something else than messages
constexpr std::size_t kQuotedBytes = 200;           ///< of that line
constexpr std::string_view kMagic = "RSD2";         ///< kFrameMagic
constexpr std::size_t kMagicOfAnyVersion = 3;       ///< bytes of it that all versions of the protocol have

/// Magic, bytes of JSON, bytes of numbers, checksum of both, checksum of the header before it.
using Header = std::array<std::uint32_t, 5>;
enum Part : std::size_t { Magic, JsonBytes, NumberBytes, Content, Self };

Error systemError(const char* what, int code)
{
    return {kPlace, std::string(what) + ": " + std::strerror(code)};
}

int millisecondsUntil(Clock::time_point end)
{
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

/// Waits until the descriptor is ready for `events`.
Status await(int descriptor, short events, const FrameWait& wait)
{
    std::optional<Clock::time_point> end = wait.until;
    if (wait.silence) {
        const Clock::time_point silent = Clock::now() + *wait.silence;
        end = end ? std::min(*end, silent) : silent;
    }
    bool reversed = false;
    while (true) {
        std::array<pollfd, 3> sources{pollfd{descriptor, events, 0}, pollfd{wait.cancel, POLLIN, 0},
                                      pollfd{reversed ? -1 : wait.reverse, POLLIN, 0}};
        const int ready = poll(sources.data(), sources.size(), end ? millisecondsUntil(*end) : -1);
        if (ready < 0 && errno != EINTR) {
            return systemError("cannot be waited for", errno);
        }
        if (sources[1].revents != 0) {
            return Error{kPlace, "was given up"};
        }
        if (ready > 0 && sources[0].revents != 0) {
            return Done{};
        }
        if (ready > 0 && sources[2].revents != 0) {
            reversed = true;
            end = Clock::now() + kOtherDirection;
        } else if (ready == 0 && end && Clock::now() >= *end) {
            return Error{kPlace, reversed ? "is closed in one direction" : "is silent"};
        }
    }
}

/// Blocking descriptors without a limit need no poll before each read.
bool waits(const FrameWait& wait)
{
    return wait.cancel >= 0 || wait.reverse >= 0 || wait.until || wait.silence;
}

Status writeAll(int descriptor, std::string_view bytes, const FrameWait& wait)
{
    while (!bytes.empty()) {
        const ssize_t written = write(descriptor, bytes.data(), bytes.size());
        if (written >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {
            RESIDUA_TRY(await(descriptor, POLLOUT, wait));
        } else if (errno != EINTR) {
            return systemError("cannot be written", errno);
        }
    }
    return Done{};
}

/// Appends `count` bytes to `to`, fewer at the end of the stream.
Status readInto(int descriptor, std::string& to, std::size_t count, const FrameWait& wait)
{
    const std::size_t whole = to.size() + count;
    bool mustWait = waits(wait);
    while (to.size() < whole) {
        if (mustWait) {
            RESIDUA_TRY(await(descriptor, POLLIN, wait));
        }
        const std::size_t have = to.size();
        to.resize(std::min(whole, have + kPart));
        const ssize_t got = read(descriptor, to.data() + have, to.size() - have);
        const int failed = got < 0 ? errno : 0;
        to.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (failed != 0 && failed != EINTR && failed != EAGAIN) {
            return systemError("cannot be read", failed);
        }
        if (got == 0) {
            break;
        }
        mustWait = waits(wait) || failed == EAGAIN;
    }
    return Done{};
}

Error tooLong(const char* part, std::size_t bytes, std::size_t most)
{
    return {kPlace, "carries a message with " + bytesText(static_cast<double>(bytes)) + " of " + part + " (" +
                        std::to_string(bytes) + " bytes); expected at most " + bytesText(static_cast<double>(most))};
}

Status checkSizes(std::size_t json, std::size_t numbers)
{
    if (json > kMostJsonBytes) {
        return tooLong("JSON", json, kMostJsonBytes);
    }
    return numbers > kMostNumberBytes ? Status(tooLong("numbers", numbers, kMostNumberBytes)) : Done{};
}

std::uint32_t checksumOf(const Frame& frame)
{
    return crc32c(asBytes(frame.numbers), crc32c(asBytes(frame.json)));
}

/// Returns the checksum of a header's bytes before it.
std::uint32_t checksumOf(const Header& header)
{
    return crc32c(std::as_bytes(std::span(header)).first(Self * sizeof header[0]));
}

/// Returns the error for a stream that begins with `start`, which is not part of a message. Reads the rest of its line.
Error somethingElse(int descriptor, std::string start, FrameWait wait)
{
    if (start.size() > kMagicOfAnyVersion && start.starts_with(kMagic.substr(0, kMagicOfAnyVersion))) {
        return {kPlace, "carries messages of another version of the protocol"};
    }
    wait.until = Clock::now() + kRestOfLine;
    while (start.size() < kQuotedBytes && start.find('\n') == std::string::npos) {
        const std::size_t have = start.size();
        const Status got = readInto(descriptor, start, 1, wait);
        if (!got || start.size() == have) {
            break;
        }
    }
    const std::string line = start.substr(0, start.find_first_of("\r\n"));
    return {kPlace,
            std::string(kNoMessage) + ": \"" + printable(line.substr(0, kQuotedBytes), LineEnds::Escape) + "\""};
}

} // namespace

Status checkSize(const Frame& frame)
{
    return checkSizes(frame.json.size(), frame.numbers.size());
}

Status awaitBytes(int descriptor, const FrameWait& wait)
{
    return await(descriptor, POLLIN, wait);
}

Status writeFrame(int descriptor, const Frame& frame, const FrameWait& wait)
{
    RESIDUA_TRY(checkSize(frame));
    Header header{kFrameMagic, static_cast<std::uint32_t>(frame.json.size()),
                  static_cast<std::uint32_t>(frame.numbers.size()), checksumOf(frame)};
    header[Self] = checksumOf(header);
    std::string start(sizeof header, '\0');
    std::memcpy(start.data(), header.data(), sizeof header);
    start += frame.json; // with the header, so that a short message takes one call
    const Status written = writeAll(descriptor, start, wait);
    return written ? writeAll(descriptor, frame.numbers, wait) : written;
}

Result<std::optional<Frame>> readFrame(int descriptor, const FrameWait& wait)
{
    // Reads single bytes up to the end of the magic, because other content may be shorter than a header.
    std::string start;
    while (start.size() < kMagic.size()) {
        const std::size_t have = start.size();
        RESIDUA_TRY(readInto(descriptor, start, 1, wait));
        if (start.size() == have) {
            return start.empty() ? Result(std::optional<Frame>()) : Error{kPlace, "ended within a message"};
        }
        if (start.back() != kMagic[have]) {
            return somethingElse(descriptor, std::move(start), wait);
        }
    }
    Header header{};
    RESIDUA_TRY(readInto(descriptor, start, sizeof header - start.size(), wait));
    if (start.size() < sizeof header) {
        return Error{kPlace, "ended within a message"};
    }
    std::memcpy(header.data(), start.data(), sizeof header);
    if (header[Self] != checksumOf(header)) {
        return Error{kPlace, "changed the bytes of a message's header"};
    }
    RESIDUA_TRY(checkSizes(header[JsonBytes], header[NumberBytes]));
    Frame frame;
    RESIDUA_TRY(readInto(descriptor, frame.json, header[JsonBytes], wait));
    RESIDUA_TRY(readInto(descriptor, frame.numbers, header[NumberBytes], wait));
    if (frame.json.size() < header[JsonBytes] || frame.numbers.size() < header[NumberBytes]) {
        return Error{kPlace, "ended within a message"};
    }
    if (header[Content] != checksumOf(frame)) {
        return Error{kPlace, "changed the bytes of a message"};
    }
    return std::optional(std::move(frame));
}

} // namespace residua::engine
