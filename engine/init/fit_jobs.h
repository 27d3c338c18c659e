// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/preparation.h"
#include "engine/lowrank/low_rank_problem.h"
#include "projects/base/result.h"

#include <functional>
#include <string>
#include <vector>

namespace residua::engine {

/// One of several fits that run in parallel.
struct FitJob {
    std::string name; ///< the name of the fitted parameter, the place of its errors
    /// Called on one of the threads; must store its result where no other job accesses it.
    std::function<Status(const LowRankWatch& watch)> run;
};

/// Runs all jobs on as many threads as LibTorch uses. Calls `watch` regularly on the calling thread; if it cancels,
/// stops the jobs. Returns givenUp(), or the error of the first job that failed.
[[nodiscard]] Status runFits(const std::vector<FitJob>& jobs, const PreparationWatch& watch);

/// Returns the error "was given up" of the initialisation.
[[nodiscard]] Error givenUp();

} // namespace residua::engine
