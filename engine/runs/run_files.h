// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/run_paths.h"
#include "engine/api/session.h"
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

/// The other machine that a run is on. The run's directory here records what happens there.
struct RemoteRun {
    EnginePlace place;               ///< has a folder
    std::filesystem::path directory; ///< of the run there, below the place's folder
    bool operator==(const RemoteRun&) const = default;
};

/// The contents of run.json: RunInfo, the start of relative data paths, and the data's fingerprint.
struct RunFile {
    RunInfo info;                           ///< its parent is an absolute path
    std::filesystem::path projectDirectory; ///< as returned by keptProjectDirectory()
    std::optional<DataFingerprint> data;    ///< nullopt for a run of a version without fingerprints
    std::string identity = {}; ///< identifies the run to its checkpoints; empty for a run of an earlier version
    std::optional<RemoteRun> remote = std::nullopt; ///< nullopt for a run on this machine
};
/// Reads run.json. Errors name the field, its value and the expected one.
[[nodiscard]] Result<RunFile> readRunFile(const std::filesystem::path& runDirectory);
/// Reads the text of a run.json. `path` is named in errors, and its folder is the run's directory.
[[nodiscard]] Result<RunFile> runFileFrom(const std::filesystem::path& path, const std::string& text);
/// Returns the text of run.json, with the parent's path as in `file`.
[[nodiscard]] std::string runFileText(const RunFile& file);
/// Replaces run.json atomically. If run.json is a link, replaces the link, not its target.
[[nodiscard]] Status writeRunFile(const std::filesystem::path& runDirectory, const RunFile& file);
/// Returns the path of a project's directory to store in its run. It is relative to the run if the run is inside the
/// project, so that both can be moved together, or if both are given as relative paths; else absolute. If
/// `projectDirectory` is empty, uses the working directory.
[[nodiscard]] std::filesystem::path keptProjectDirectory(const std::filesystem::path& runDirectory,
                                                         const std::filesystem::path& projectDirectory);
/// Returns the stored path as an absolute path.
[[nodiscard]] std::filesystem::path resolvedProjectDirectory(const std::filesystem::path& runDirectory,
                                                             const std::filesystem::path& kept);
/// Returns the path of the run's parent to store in run.json. It is relative to the run if both are in one folder, or
/// in one project directory (as from keptProjectDirectory()); else absolute. Empty if the run has no parent.
[[nodiscard]] std::filesystem::path keptParent(const std::filesystem::path& runDirectory, const RunFile& file);

/// Prevents other processes from replacing run.json between a read and a write, during the value's lifetime. Waits at
/// most `patience`; others hold this for milliseconds.
[[nodiscard]] Result<FileDescriptor> guardRunFile(const std::filesystem::path& runDirectory,
                                                  std::chrono::milliseconds patience = std::chrono::seconds(10));

/// Marks the run as being written until the value is destroyed or the process ends. Refused while another process holds
/// it.
[[nodiscard]] Result<FileDescriptor> lockRun(const std::filesystem::path& runDirectory);
/// True if a process is writing the run. Does not take the lock.
[[nodiscard]] bool isRunLocked(const std::filesystem::path& runDirectory);

} // namespace residua::engine
