// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/low_rank_fit.h"
#include "engine/maths/lowrank/low_rank_problem.h"

namespace residua::engine {

std::vector<Result<LowRankFit>> fitLayers(std::span<const LowRankProblem> problems,
                                          std::span<const LowRankMethod> methods, int threads, std::stop_token stop)
{
    std::vector<double> works;
    for (const LowRankProblem& problem : problems) {
        works.insert(works.end(), methods.size(), workOf(problem));
    }
    std::vector<Result<LowRankFit>> results(works.size(), Result<LowRankFit>(stoppedFit()));
    const LowRankWatch watch{{}, std::move(stop)};
    runOnThreads(works, threads, [&](std::size_t i) {
        results[i] =
            guardedFit([&] { return fitLowRank(problems[i / methods.size()], methods[i % methods.size()], watch); });
    });
    return results;
}

} // namespace residua::engine
