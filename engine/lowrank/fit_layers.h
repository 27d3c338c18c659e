// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lowrank/low_rank_problem.h"

#include <cstddef>

namespace residua::engine {

/// Callbacks for the fits of several layers. `progress` and `finished` are called on the fitting threads, one call at a
/// time; all may be empty.
struct LayerFitsWatch {
    /// Called instead of fitLowRank, for cached fits; called on several threads at once.
    std::function<Result<LowRankFit>(const LowRankProblem&, LowRankMethod, const LowRankWatch&)> fit;
    std::function<void(std::size_t problem, std::size_t method, const LowRankProgress&)> progress;
    std::function<void(std::size_t problem, std::size_t method, const Result<LowRankFit>&)> finished;
    std::stop_token stop;
};

/// Fits each problem by each method in parallel on `threads` threads (at least 1), the largest problems first. Element
/// [problem·methods + method] is the result of fitLowRank, with the same bits for any number of threads. After a
/// requested stop, the remaining results are stoppedFit().
[[nodiscard]] std::vector<Result<LowRankFit>> fitLayers(std::span<const LowRankProblem> problems,
                                                        std::span<const LowRankMethod> methods, int threads,
                                                        const LayerFitsWatch& watch = {});

} // namespace residua::engine
