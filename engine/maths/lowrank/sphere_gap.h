// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/maths/lowrank/low_rank_problem.h"

/// The gap between the spectral start and the optimum for weights with rows drawn on the unit sphere (theorem 3.5,
/// corollary 3.7, figures 1 and 4): each bound, and the values that the solvers reach.
namespace residua::engine {

/// m outputs, d inputs: entries from N(0, 1), with each row then scaled to norm 1. Followed by a Relu; the inputs are
/// N(0, I).
struct SphereCase {
    std::int64_t inputs = 0;  ///< d
    std::int64_t outputs = 0; ///< m
    std::int64_t rank = 0;    ///< r
    std::uint64_t seed = 0;   ///< of the searches and of the weight, which is equal for all ranks
};
/// Returns figure 1's sizes for n: d = 0.2·n and m = n^1.5 (each at least 1), r = scale·d, at least 1.
[[nodiscard]] SphereCase figureOneCase(std::int64_t n, double rankScale, std::uint64_t seed);

struct SpherePoint {
    SphereCase of;
    double bound = 0;      ///< theorem 3.5: (1/2d)·‖√h(ρ_SVD) − ρ_SVD‖²
    double roughBound = 0; ///< corollary 3.7 without its Ω: (m/2d)·(1/π − ½√(r/d))²; 0 from √(r/d) = 2/π on
    double meanCorrelation = 0;      ///< the mean of ρ_SVD over the rows
    double correlationDeviation = 0; ///< their standard deviation
    std::vector<double> errors;      ///< R(Y)/d of each method
};

/// Fits each case by each method in parallel on `threads` threads; the numbers are equal for any count. Returns an
/// error for sizes below 1, a rank outside 1 … min(d, m), and stoppedFit().
[[nodiscard]] Result<std::vector<SpherePoint>> sphereGap(std::span<const SphereCase> cases,
                                                         std::span<const LowRankMethod> methods, int threads,
                                                         std::stop_token stop = {});

/// A point of figure 3 for one column of norm 1: √h(ρ), the loss in R from using the spectral norm ρ instead of √h(ρ)
/// by theorem 3.5, and the two values of R.
struct KernelPoint {
    double rho = 0;
    double rootOfH = 0;
    double bound = 0;    ///< ½(√h(ρ) − ρ)²
    double spectral = 0; ///< R at norm ρ
    double best = 0;     ///< R at norm √h(ρ)
};
/// Returns the points for ρ from 0 to 1 in `steps` equal steps, at least 1.
[[nodiscard]] std::vector<KernelPoint> kernelCurve(int steps);

} // namespace residua::engine
