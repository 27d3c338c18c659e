// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/runs/data_part.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace residua::engine {

/// A run that goes on from a checkpoint of another.
struct RunBranch {
    std::filesystem::path parent;
    std::int64_t step = 0;
    std::filesystem::path directory; ///< of the new run; must not exist. Empty: a new one beside the parent
    projects::Project project;
    std::int64_t steps = 0;       ///< planned in all
    RunEvent event;               ///< what the new run's history says of it
    std::vector<Matrix> matrices; ///< of the step, where the branch has others than its parent
    std::vector<RunEvent> events; ///< further ones
    /// Where its data are and what they are, where that differs from its parent's.
    std::optional<std::pair<std::filesystem::path, DataFingerprint>> source;
};

/// Makes the branch: its parent's numbers up to the step (those of the wiring where it is the same), the FLOP that
/// were spent until then, the gap that its factors started with, its project, where it comes from, and the checkpoint
/// that `putCheckpoint` writes into a directory beside its place. It is stopped, and comes to its place when all of it
/// is written (NewRun). Returns its directory. On error, and where `putCheckpoint` throws, nothing of it remains. The
/// parent's checkpoint is not asked for: a parent that trains on may have removed it since it was read.
[[nodiscard]] Result<std::filesystem::path>
makeBranch(const RunBranch& branch, const std::function<Status(const std::filesystem::path& directory)>& putCheckpoint);

} // namespace residua::engine
