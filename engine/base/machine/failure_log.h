// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/background_files.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace residua::engine {

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
