// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/init/fit_cache.h"
#include "engine/lowrank/attention_fit.h"
#include "engine/lowrank/low_rank_problem.h"
#include "projects/base/result.h"

namespace residua::engine {

/// As fitLowRank and fitAttention, but a fit of the same problem that `cache` keeps is read instead, and one that it
/// lacks is kept there. Any thread.
[[nodiscard]] Result<LowRankFit> fitKept(const LowRankProblem& problem, LowRankMethod method, CachedFits& cache,
                                         const LowRankWatch& watch);
[[nodiscard]] Result<AttentionFit> fitKept(const AttentionProblem& problem, CachedFits& cache,
                                           const LowRankWatch& watch);

} // namespace residua::engine
