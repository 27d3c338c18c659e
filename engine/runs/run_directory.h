// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/files.h"
#include "projects/base/result.h"

#include <filesystem>
#include <string>

namespace residua::engine {

/// A new run's directory, empty but for the lock, which this process holds.
struct HeldDirectory {
    std::filesystem::path path;
    FileDescriptor lock;
};

/// Makes `directory` and its parents. One that exists is taken over where it is empty, or holds nothing but what a run
/// leaves that is cut off before its run.json; anything else in it refuses.
[[nodiscard]] Result<HeldDirectory> claimRunDirectory(const std::filesystem::path& directory);
/// Makes a new directory in `folder`: <UTC time>-<name>, with -2, -3, … where there is one already. Whoever makes it
/// has it, so that runs that begin at the same moment in the same folder get one each.
[[nodiscard]] Result<HeldDirectory> claimRunDirectoryIn(const std::filesystem::path& folder, const std::string& name);

/// Whether `directory` holds nothing but what a run leaves that is cut off before its run.json, and no recorded steps.
[[nodiscard]] bool holdsDebrisAlone(const std::filesystem::path& directory);

/// Removes the directories that claimRunDirectoryIn made in `folder` for runs that were cut off before their run.json
/// and that no process holds.
void sweepRuns(const std::filesystem::path& folder);
/// Removes the unfinished files of a process that died while it wrote the run. Precondition: the caller holds the run.
void sweepRun(const std::filesystem::path& runDirectory);

} // namespace residua::engine
