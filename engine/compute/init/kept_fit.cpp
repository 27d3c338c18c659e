// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/init/fit_cache.h"

#include "engine/maths/lowrank/low_rank_fit.h"

#include <string>
#include <utility>

namespace residua::engine {

Result<LowRankFit> fitKept(const LowRankProblem& problem, LowRankMethod method, CachedFits& cache,
                           const LowRankWatch& watch)
{
    if (method == LowRankMethod::Baseline) { // drawing is cheap, so it is not cached
        return fitLowRank(problem, method, watch);
    }
    const std::string name = fitFileName(problem, method);
    if (auto kept = cache.kept(name, problem)) {
        return *std::move(kept);
    }
    Result<LowRankFit> fit = fitLowRank(problem, method, watch);
    if (fit) {
        cache.keep(name, problem, *fit);
    }
    return fit;
}

Result<AttentionFit> fitKept(const AttentionProblem& problem, CachedFits& cache, const LowRankWatch& watch)
{
    const std::string name = fitFileName(problem);
    if (auto kept = cache.kept(name, problem)) {
        return *std::move(kept);
    }
    Result<AttentionFit> fit = fitAttention(problem, watch);
    if (fit) {
        cache.keep(name, problem, *fit);
    }
    return fit;
}

} // namespace residua::engine
