// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/init/fit_cache.h"
#include "engine/lowrank/attention_fit.h"
#include "engine/lowrank/low_rank_problem.h"
#include "projects/base/result.h"

namespace residua::engine {

/// Fits as fitLowRank and fitAttention, but reads the fit of an equal problem from `cache` if it exists and adds new
/// fits to it. Any thread.
[[nodiscard]] Result<LowRankFit> fitKept(const LowRankProblem& problem, LowRankMethod method, CachedFits& cache,
                                         const LowRankWatch& watch);
[[nodiscard]] Result<AttentionFit> fitKept(const AttentionProblem& problem, CachedFits& cache,
                                           const LowRankWatch& watch);

} // namespace residua::engine
