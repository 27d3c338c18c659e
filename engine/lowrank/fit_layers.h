// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lowrank/low_rank_problem.h"

#include <cstddef>

namespace residua::engine {

/// How the fits of several layers are watched. `progress` and `finished` are called on the fitting threads, never two
/// at once; any may be empty.
struct LayerFitsWatch {
    /// In place of fitLowRank, for fits that are kept; called on several threads at once.
    std::function<Result<LowRankFit>(const LowRankProblem&, LowRankMethod, const LowRankWatch&)> fit;
    std::function<void(std::size_t problem, std::size_t method, const LowRankProgress&)> progress;
    std::function<void(std::size_t problem, std::size_t method, const Result<LowRankFit>&)> finished;
    std::stop_token stop;
};

/// Each problem by each method, side by side on so many threads (at least 1), the largest problems first. Element
/// [problem·methods + method] is what fitLowRank gives, and the same bits whatever the number of threads. After a
/// requested stop the rest are stoppedFit().
[[nodiscard]] std::vector<Result<LowRankFit>> fitLayers(std::span<const LowRankProblem> problems,
                                                        std::span<const LowRankMethod> methods, int threads,
                                                        const LayerFitsWatch& watch = {});

} // namespace residua::engine
