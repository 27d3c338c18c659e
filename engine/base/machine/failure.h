// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/background_files.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace residua::engine {

/// The description of an exception for the user.
struct Failure {
    enum class Kind { OutOfMemory, Other } kind = Kind::Other;
    std::string text; ///< one line
};

/// Returns a failure for lack of memory. `text` is an allocator's message; if it names the amount, the failure does
/// too.
[[nodiscard]] Failure noMemory(std::string_view text);
/// Returns the failure for an exception with the message `text` from the library `whose`: its first line, or a lack of
/// memory if the message says so.
[[nodiscard]] Failure failureOf(std::string_view text, const std::string& whose);

/// Runs `work` and catches all exceptions; returns nullopt on success. Describes exceptions as the standard library's;
/// for work that uses LibTorch, see engine/compute/runtime/cuda_backend.h.
[[nodiscard]] std::optional<Failure> attemptStandard(const std::function<void()>& work);

/// The end of a run that failed in the background engine. The engine writes it into its own log, because the run's disk
/// may be full, read-only or gone.
struct LoggedFailure {
    double seconds = 0;        ///< since 1970
    std::filesystem::path run; ///< its directory when it began
    std::string identity;      ///< RunFile::identity
    std::int64_t step = 0;
    std::string error;
};

/// Opens the log of the background engine, which is a file of this user, to append to it. Removes the content of a long
/// one.
[[nodiscard]] Result<FileDescriptor> openBackgroundLog(const BackgroundFiles& files);
/// Appends a line to the log: the time and JSON with the members.
void logFailure(int log, const LoggedFailure& failure);
/// Returns the last failure of the run in the log of this user's background engine; nullopt if it has no failure of
/// the run. Does not create any file.
[[nodiscard]] std::optional<LoggedFailure> loggedFailure(const std::string& identity);

} // namespace residua::engine
