// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lowrank/low_rank_problem.h"

/// The gap between the spectral start and the optimum on weights whose rows are drawn on the unit sphere (theorem 3.5,
/// corollary 3.7, figures 1 and 4), each bound beside what the solvers reach.
namespace residua::engine {

/// m outputs, d inputs: entries of N(0, 1), each row then of norm 1. A Relu follows, the inputs are N(0, I).
struct SphereCase {
    std::int64_t inputs = 0;  ///< d
    std::int64_t outputs = 0; ///< m
    std::int64_t rank = 0;    ///< r
    std::uint64_t seed = 0;   ///< of the weight, which is the same for any rank, and of the searches
};
/// Figure 1's sizes for n: d = 0.2·n and m = n^1.5 (each at least 1), r = scale·d, at least 1.
[[nodiscard]] SphereCase figureOneCase(std::int64_t n, double rankScale, std::uint64_t seed);

struct SpherePoint {
    SphereCase of;
    double bound = 0;      ///< theorem 3.5: (1/2d)·‖√h(ρ_SVD) − ρ_SVD‖²
    double roughBound = 0; ///< corollary 3.7 without its Ω: (m/2d)·(1/π − ½√(r/d))²; 0 from √(r/d) = 2/π on
    double meanCorrelation = 0;      ///< of ρ_SVD over the rows
    double correlationDeviation = 0; ///< their standard deviation
    std::vector<double> errors;      ///< R(Y)/d of each method
};

/// Each case by each method, side by side on so many threads; the same numbers whatever their count. Errors: sizes
/// below 1, a rank outside 1 … min(d, m), stoppedFit().
[[nodiscard]] Result<std::vector<SpherePoint>> sphereGap(std::span<const SphereCase> cases,
                                                         std::span<const LowRankMethod> methods, int threads,
                                                         std::stop_token stop = {});

/// Figure 3 and what follows from it for one column of norm 1: √h(ρ), what R loses at ρ by the spectral norm ρ instead
/// of √h(ρ), by theorem 3.5, and the same difference of R itself.
struct KernelPoint {
    double rho = 0;
    double rootOfH = 0;
    double bound = 0;    ///< ½(√h(ρ) − ρ)²
    double spectral = 0; ///< R at norm ρ
    double best = 0;     ///< R at norm √h(ρ)
};
/// ρ from 0 to 1 in so many equal steps, at least 1.
[[nodiscard]] std::vector<KernelPoint> kernelCurve(int steps);

} // namespace residua::engine
