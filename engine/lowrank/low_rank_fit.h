// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lowrank/low_rank_problem.h"
#include "projects/base/result.h"

namespace residua::engine {

/// Fits two factors. Returns an error without a place for a rank outside 1 … min(out, in), inconsistent sizes, a value
/// that is not finite, a covariance that is not symmetric or not positive semidefinite, a schedule without samples or
/// rate, and stoppedFit(). A search (Lfai, LfaiWs, Exact) that does not converge and ends above the spectral start
/// returns that start with a note. Under Identity there is no search: the optimum is a truncated singular value
/// decomposition, and the note says so.
[[nodiscard]] Result<LowRankFit> fitLowRank(const LowRankProblem& problem, LowRankMethod method,
                                            const LowRankWatch& watch = {});

} // namespace residua::engine
