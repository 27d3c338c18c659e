// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/machine/failure.h"

#include "projects/base/json_tree.h"
#include "projects/base/text.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <exception>
#include <new>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace residua::engine {

namespace {

std::string firstLine(std::string_view text)
{
    return std::string(text.substr(0, text.find('\n')));
}

/// Returns the amount of a failed allocation from an allocator's message, such as "tried to allocate 20.00 MiB" or
/// "8388608000 bytes"; empty if the message has none.
std::string askedFor(std::string_view text)
{
    constexpr std::string_view kAmount = "ried to allocate ";
    const std::size_t found = text.find(kAmount);
    std::istringstream words(std::string(found == std::string_view::npos ? "" : text.substr(found + kAmount.size())));
    double amount = 0;
    std::string unit;
    if (!(words >> amount >> unit)) {
        return {};
    }
    const double scale = unit.starts_with("GiB")   ? 1
                         : unit.starts_with("MiB") ? 1.0 / (1 << 10)
                         : unit.starts_with("KiB") ? 1.0 / (1 << 20)
                                                   : 1.0 / (1 << 30);
    return numberText(amount * scale, 3) + " GiB";
}

Failure failureOfSystem(const std::system_error& error)
{
    if (error.code() == std::errc::resource_unavailable_try_again) { // thrown by std::thread
        return {Failure::Kind::Other, "the system starts no further thread (" + error.code().message() +
                                          "): raise its limits, or give fewer threads"};
    }
    return failureOf(error.what(), "the system");
}

} // namespace

Failure noMemory(std::string_view text)
{
    const std::string amount = askedFor(text);
    return {Failure::Kind::OutOfMemory,
            amount.empty() ? "there is no memory left" : "there is no memory for " + amount + " more"};
}

Failure failureOf(std::string_view text, const std::string& whose)
{
    // Only the caching allocator of a GPU has an exception type of its own; for CUDA, cuBLAS and cuDNN, matches the
    // names of their status codes.
    for (const char* const said : {"can't allocate memory", "not enough memory", "out of memory", "out_of_memory",
                                   "STATUS_ALLOC_FAILED", "ALLOCATION_FAILED"}) {
        if (text.find(said) != std::string_view::npos) {
            return noMemory(text);
        }
    }
    return {Failure::Kind::Other, whose + " failed: " + firstLine(text)};
}

std::optional<Failure> attemptStandard(const std::function<void()>& work)
{
    try {
        work();
        return std::nullopt;
    } catch (const std::bad_alloc&) {
        return noMemory({});
    } catch (const std::length_error&) { // a size larger than any memory
        return noMemory({});
    } catch (const std::system_error& error) {
        return failureOfSystem(error);
    } catch (const std::exception& error) {
        return failureOf(error.what(), "the engine");
    } catch (...) {
        return Failure{Failure::Kind::Other, "the engine failed for a reason that it does not say"};
    }
}

namespace {

constexpr off_t kLongestLog = off_t{1} << 20;  ///< bytes, at the start of an engine
constexpr off_t kSearchedLog = off_t{2} << 20; ///< bytes at the end in which a failure is looked for
constexpr const char* kMark = " run failed: ";

std::string timeText(double seconds)
{
    const auto whole = static_cast<std::time_t>(seconds);
    std::tm time{};
    std::array<char, 32> text{};
    gmtime_r(&whole, &time);
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &time)};
}

/// Returns the failure in a line of the log; nullopt if it has none.
std::optional<LoggedFailure> failureIn(const std::string& line)
{
    const std::size_t mark = line.find(kMark);
    if (mark == std::string::npos || tooDeep(line, kDeepestJson)) {
        return std::nullopt;
    }
    try {
        const auto json = nlohmann::json::parse(line.substr(mark + std::string_view(kMark).size()));
        return LoggedFailure{json.at("seconds"), json.at("run").get<std::string>(), json.at("identity"),
                             json.at("step"), json.at("error")};
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

} // namespace

Result<FileDescriptor> openBackgroundLog(const BackgroundFiles& files)
{
    // A named pipe without a reader would block.
    FileDescriptor log(open(files.log().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                            S_IRUSR | S_IWUSR));
    const int code = errno;
    struct stat found {};
    const bool isFile = log.isOpen() && fstat(log.get(), &found) == 0 && S_ISREG(found.st_mode);
    if (!isFile && (log.isOpen() || code == ENXIO || code == ELOOP || code == EISDIR)) {
        return Error{files.log().string(), "is not a regular file, which the background engine needs: remove it"};
    }
    if (!isFile) {
        return systemError(files.log(), "cannot be opened", code);
    }
    if (found.st_size > kLongestLog && ftruncate(log.get(), 0) != 0) {
        return systemError(files.log(), "cannot be shortened", errno);
    }
    return log;
}

void logFailure(int log, const LoggedFailure& failure)
{
    const nlohmann::json json{{"seconds", failure.seconds},
                              {"run", failure.run.string()},
                              {"identity", failure.identity},
                              {"step", failure.step},
                              {"error", failure.error}};
    const std::string line =
        timeText(failure.seconds) + kMark + json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    [[maybe_unused]] const ssize_t written = write(log, line.data(), line.size()); // there is no other place to tell
}

std::optional<LoggedFailure> loggedFailure(const std::string& identity)
{
    const FileDescriptor log = readBackgroundLog();
    struct stat found {};
    if (identity.empty() || !log.isOpen() || fstat(log.get(), &found) != 0) {
        return std::nullopt;
    }
    const off_t begin = std::max(found.st_size - kSearchedLog, off_t{0});
    std::string text(static_cast<std::size_t>(found.st_size - begin), '\0');
    const ssize_t got = pread(log.get(), text.data(), text.size(), begin);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    std::optional<LoggedFailure> last;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (std::optional<LoggedFailure> failure = failureIn(line); failure && failure->identity == identity) {
            last = std::move(failure);
        }
    }
    return last;
}

} // namespace residua::engine
