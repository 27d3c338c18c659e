// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lowrank/low_rank_problem.h"
#include "projects/base/result.h"

namespace residua::engine {

/// Errors, without a place: a rank outside 1 … min(out, in), counts that do not fit, a value that is not finite, a
/// covariance that is not symmetric or is negative in some direction, a course without samples or rate, and
/// stoppedFit(). A search (Lfai, LfaiWs, Exact) that does not converge and has ended above the spectral start
/// keeps that start and says so. Under Identity nothing is searched: the best is a truncated singular value
/// decomposition, and the note says so.
[[nodiscard]] Result<LowRankFit> fitLowRank(const LowRankProblem& problem, LowRankMethod method,
                                            const LowRankWatch& watch = {});

} // namespace residua::engine
