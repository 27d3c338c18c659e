// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/project.h"
#include "projects/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

namespace residua::engine {

/// A run that goes on from a checkpoint of another.
struct RunBranch {
    std::filesystem::path parent;
    std::int64_t step = 0;
    std::filesystem::path directory; ///< of the new run; must not exist
    projects::Project project;
    std::int64_t steps = 0;       ///< planned in all
    RunEvent event;               ///< what the new run's history says of it
    std::vector<Matrix> matrices; ///< of the step, where the branch has others than its parent
};

/// Makes the branch: its parent's numbers up to the step, its project, where it comes from, and the checkpoint that
/// `putCheckpoint` writes into it. It is stopped. On error nothing of it remains. Refused where the parent has no
/// checkpoint of the step.
[[nodiscard]] Status makeBranch(const RunBranch& branch,
                                const std::function<Status(const std::filesystem::path& directory)>& putCheckpoint);

} // namespace residua::engine
