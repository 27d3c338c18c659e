// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/preparation.h"
#include "engine/lowrank/low_rank_problem.h"
#include "projects/base/result.h"

#include <functional>
#include <string>
#include <vector>

namespace residua::engine {

/// One fit among many that are made side by side.
struct FitJob {
    std::string name; ///< of what is fitted, the place of its errors
    /// Called on one of the threads; leaves its result where no other job looks.
    std::function<Status(const LowRankWatch& watch)> run;
};

/// Runs all of them, on as many threads as LibTorch computes with. `watch` is asked all the time, on the calling
/// thread; where it gives them up they are stopped. Errors: givenUp(), or the first with which a job ended.
[[nodiscard]] Status runFits(const std::vector<FitJob>& jobs, const PreparationWatch& watch);

/// "was given up", of the initialisation.
[[nodiscard]] Error givenUp();

} // namespace residua::engine
