// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/files.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace residua::engine {

/// The directory of a new run, empty except for the lock, which this process holds.
struct HeldDirectory {
    std::filesystem::path path;
    FileDescriptor lock;
};

/// Creates `directory` and its parents. Takes over an existing directory if it is empty or holds only the files of a
/// run that was interrupted before its run.json; otherwise returns an error.
[[nodiscard]] Result<HeldDirectory> claimRunDirectory(const std::filesystem::path& directory);
/// Creates a new directory in `folder`: <UTC time>-<name>, with -2, -3, … if it exists. Creation is exclusive, so runs
/// that begin at the same moment in the same folder get different directories.
[[nodiscard]] Result<HeldDirectory> claimRunDirectoryIn(const std::filesystem::path& folder, const std::string& name);

/// True if `directory` holds only the files of a run that was interrupted before its run.json, and no recorded steps.
[[nodiscard]] bool holdsDebrisAlone(const std::filesystem::path& directory);

/// Removes the directories that claimRunDirectoryIn made in `folder` for runs that were interrupted before their
/// run.json and that no process holds.
void sweepRuns(const std::filesystem::path& folder);
/// Removes the unfinished files of a process that was killed while writing the run. Precondition: the caller holds the
/// run.
void sweepRun(const std::filesystem::path& runDirectory);

/// The folder of a run's kept knock-outs (engine/runs/results/effects.h).
inline constexpr const char* kEffectsFolder = "effects";
/// Returns the beginning of the names of the files of a step in it: "step-00000100-".
[[nodiscard]] std::string effectsPrefix(std::int64_t step);
/// Removes the knock-outs of later steps, which the run is about to train again.
void removeEffectsAfter(const std::filesystem::path& runDirectory, std::int64_t step);

/// A file in a run's directory with which one process asks the process that trains the run to end it after a step.
/// Links are ignored.
inline constexpr const char* kStopFile = "stop";

/// Requests the run's end after `step`; if `step` is 0 or already done, at the end of the next step. A later request
/// replaces an earlier one.
[[nodiscard]] Status writeStopRequest(const std::filesystem::path& runDirectory, std::int64_t step);
/// Returns the requested step; nullopt if there is no request or it is malformed. Takes one system call without a
/// request.
[[nodiscard]] std::optional<std::int64_t> readStopRequest(const std::filesystem::path& runDirectory);
/// Removes an earlier request. Called when a process begins to train the run, or ends it.
void clearStopRequest(const std::filesystem::path& runDirectory);

} // namespace residua::engine
