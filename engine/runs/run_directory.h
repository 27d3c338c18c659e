// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/files.h"
#include "projects/base/result.h"

#include <filesystem>
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

} // namespace residua::engine
