// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/record/files.h"
#include "projects/result.h"

#include <filesystem>

namespace residua::engine {

inline constexpr const char* kRunFile = "run.json";
inline constexpr const char* kLockFile = "lock";
inline constexpr const char* kFrozenProject = "project";

/// run.json: RunInfo, and where relative data paths start.
struct RunFile {
    RunInfo info;
    std::filesystem::path projectDirectory;
};
[[nodiscard]] Result<RunFile> readRunFile(const std::filesystem::path& runDirectory);
/// Replaces it atomically.
[[nodiscard]] Status writeRunFile(const std::filesystem::path& runDirectory, const RunFile& file);
/// Keeps others from replacing run.json between a read and a write of it, for as long as it lives; waits its turn.
[[nodiscard]] Result<FileDescriptor> guardRunFile(const std::filesystem::path& runDirectory);

/// Marks the run as being written, until the value is gone or the process dies. Refused while another holds it.
[[nodiscard]] Result<FileDescriptor> lockRun(const std::filesystem::path& runDirectory);
/// Whether some process writes the run now. Asks without taking the lock.
[[nodiscard]] bool isRunLocked(const std::filesystem::path& runDirectory);

} // namespace residua::engine
