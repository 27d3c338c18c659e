// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/run_paths.h"
#include "engine/api/values.h"
#include "engine/runs/data_part.h"
#include "projects/base/files.h"
#include "projects/base/result.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace residua::engine {

inline constexpr const char* kLockFile = "lock";
inline constexpr const char* kFrozenProject = "project";

/// run.json: RunInfo, where relative data paths start, and what the data were.
struct RunFile {
    RunInfo info;                           ///< its parent is absolute
    std::filesystem::path projectDirectory; ///< as keptProjectDirectory() has it
    std::optional<DataFingerprint> data;    ///< none: the run was made before runs had one
    std::string identity = {};              ///< by which its checkpoints know it; empty: likewise
};
/// Errors name the field, what it is and what was expected.
[[nodiscard]] Result<RunFile> readRunFile(const std::filesystem::path& runDirectory);
/// What run.json holds, with the parent as it is in `file`.
[[nodiscard]] std::string runFileText(const RunFile& file);
/// Replaces it atomically. A link that stands in its place is replaced, never what it points to.
[[nodiscard]] Status writeRunFile(const std::filesystem::path& runDirectory, const RunFile& file);
/// A project's directory as its run keeps it: relative to the run where the run lies inside the project, so that both
/// are moved together, or where both are given as relative paths; else absolute. Empty: the working directory.
[[nodiscard]] std::filesystem::path keptProjectDirectory(const std::filesystem::path& runDirectory,
                                                         const std::filesystem::path& projectDirectory);
/// The kept one as an absolute path.
[[nodiscard]] std::filesystem::path resolvedProjectDirectory(const std::filesystem::path& runDirectory,
                                                             const std::filesystem::path& kept);
/// The parent of a run as run.json has it: relative to the run where both lie in one folder, or in one project
/// directory (as keptProjectDirectory() has it); else absolute. Empty if there is none.
[[nodiscard]] std::filesystem::path keptParent(const std::filesystem::path& runDirectory, const RunFile& file);

/// Keeps others from replacing run.json between a read and a write of it, for as long as it lives. Waits its turn for
/// `patience`; who replaces run.json holds it for milliseconds.
[[nodiscard]] Result<FileDescriptor> guardRunFile(const std::filesystem::path& runDirectory,
                                                  std::chrono::milliseconds patience = std::chrono::seconds(10));

/// Marks the run as being written, until the value is gone or the process dies. Refused while another holds it.
[[nodiscard]] Result<FileDescriptor> lockRun(const std::filesystem::path& runDirectory);
/// Whether some process writes the run now. Asks without taking the lock.
[[nodiscard]] bool isRunLocked(const std::filesystem::path& runDirectory);

} // namespace residua::engine
