// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/maths/lowrank/exact_fit.h"
#include "engine/maths/lowrank/layer.h"
#include "engine/maths/lowrank/low_rank_problem.h"
#include "projects/base/result.h"

#include <vector>

namespace residua::engine {

/// Fits two factors. Returns an error without a place for a rank outside 1 … min(out, in), inconsistent sizes, a value
/// that is not finite, a covariance that is not symmetric or not positive semidefinite, a schedule without samples or
/// rate, and stoppedFit(). A search (Lfai, LfaiWs, Exact) that does not converge and ends above the spectral start
/// returns that start with a note. Under Identity there is no search: the optimum is a truncated singular value
/// decomposition, and the note says so.
[[nodiscard]] Result<LowRankFit> fitLowRank(const LowRankProblem& problem, LowRankMethod method,
                                            const LowRankWatch& watch = {});

} // namespace residua::engine

namespace residua::engine::lowrank {

/// Runs algorithms 1 and 2: Adam on (1/B)·Σ_k ‖σ(left·right·x_k) − σ(weight·x_k)‖² over new Gaussian samples, from
/// `start`. After each epoch the expectation is measured without samples; the search ends early if it no longer
/// changes. Not converged if the error still changed in the last epoch or is no better than with factors of zeros.
/// Errors: stoppedFit().
[[nodiscard]] Result<Searched> fitBySamples(const Layer& layer, const FactorError& error, Factors start,
                                            const LfaiCourse& course, const LowRankWatch& watch);

/// √h as a function of the correlation: sqrtH, or a replacement for it.
using CorrelationKernel = double (*)(double rho);

/// The maximum number of kernel values in an enumeration; beyond it, the search uses exchanges.
inline constexpr double kMostKernelValues = 2e7;

/// Λ of theorem 3.3: the singular directions to keep.
struct DirectionChoice {
    std::vector<Eigen::Index> directions; ///< ascending
    double objective = 0;                 ///< Σ ‖W_i‖²·h(ρ_i)
    bool enumerated = false; ///< true if every subset was tried; false for exchanges from the largest singular values
};
/// Chooses directions. `rows` is U·Σ, [out, min(out, in)]: the weight in its own right singular directions, largest
/// first. Errors: stoppedFit().
[[nodiscard]] Result<DirectionChoice> chooseDirections(const Eigen::MatrixXd& rows, Eigen::Index rank,
                                                       CorrelationKernel kernel, const LowRankWatch& watch,
                                                       double mostKernelValues = kMostKernelValues);

/// Returns Y of theorem 3.3 for the chosen directions, as factors in the coordinates of `rows`: the projection of each
/// row, scaled to the norm ‖W_i‖·√h(ρ_i). (The printed gnorm assumes rows of norm 1.) A row whose projection is 0 gets
/// a direction that is uncorrelated with it.
[[nodiscard]] Factors scaledProjection(const Eigen::MatrixXd& rows, const std::vector<Eigen::Index>& directions,
                                       CorrelationKernel kernel);

} // namespace residua::engine::lowrank

namespace residua::engine {

/// Fits each problem by each method in parallel on `threads` threads (at least 1), the largest problems first. Element
/// [problem·methods + method] is the result of fitLowRank, with the same bits for any number of threads. After a
/// requested stop, the remaining results are stoppedFit().
[[nodiscard]] std::vector<Result<LowRankFit>> fitLayers(std::span<const LowRankProblem> problems,
                                                        std::span<const LowRankMethod> methods, int threads,
                                                        std::stop_token stop = {});

} // namespace residua::engine
