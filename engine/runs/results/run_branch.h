// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace residua::engine {

/// A run that continues from a checkpoint of another run.
struct RunBranch {
    std::filesystem::path parent;
    std::int64_t step = 0;
    std::filesystem::path directory; ///< of the new run; must not exist. Empty: a new one beside the parent
    projects::Project project;
    std::int64_t steps = 0;                    ///< the total planned
    RunEvent event;                            ///< the entry in the new run's history
    std::vector<Matrix> matrices;              ///< of the step, if they differ from the parent's
    std::vector<RunEvent> events;              ///< further entries
    std::map<std::string, double> values = {}; ///< metrics of the step that replace the parent's
    /// The project's directory and the data's fingerprint, if they differ from the parent's.
    std::optional<std::pair<std::filesystem::path, DataFingerprint>> source;
};

/// Makes the branch from its parent's numbers up to the step (those of the wiring if it is the same), the FLOP spent
/// until then, the gap of its initial factors, its project and its origin, and the checkpoint that `putCheckpoint`
/// writes into a directory beside its place. The run is moved to its place when it is complete (NewRun); its status is
/// Stopped. Returns its directory. On error, or if `putCheckpoint` throws, nothing of it remains. Does not read the
/// parent's checkpoint, which a parent that trains may have removed meanwhile.
[[nodiscard]] Result<std::filesystem::path>
makeBranch(const RunBranch& branch, const std::function<Status(const std::filesystem::path& directory)>& putCheckpoint);

} // namespace residua::engine
