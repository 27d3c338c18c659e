// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lowrank/low_rank_problem.h"

#include <cstdint>
#include <span>
#include <vector>

/// Figure 2 of "Nonlinear Initialization Methods for Low-Rank Neural Networks" at a small scale: what a closer start of
/// the factors is worth at the end of training. The paper stops its warm-started fit after so many steps and shows an
/// EfficientNet-b7's accuracy against the layers' mean error; here it is the validation loss of small networks, whose
/// fits begin warm or at the draw.
namespace residua::engine {

/// A teacher of one hidden layer of ReLUs, y = Σ_j ±ReLU(a_j·x)/√k, x ~ N(0, I), which is learned by
/// wᵀ·ReLU(W_2·ReLU(W_1·x)) with W_1 [width, inputs] and W_2 [width, width] in factors: drawn from N(0, 2/in), fitted
/// by Adam on samples, and trained with w by Adam on the squared error.
struct StartStudy {
    LowRankMethod method = LowRankMethod::LfaiWs; ///< or Lfai
    std::int64_t inputs = 16;
    std::int64_t width = 64;
    double rankScale = 0.125;
    std::int64_t teacher = 24; ///< k
    std::int64_t samples = 2000;
    std::int64_t held = 1000; ///< validate
    std::int64_t batch = 50;
    std::int64_t steps = 1600;
    double learningRate = 1e-3;
    std::int64_t networks = 6; ///< over which the mean is taken, each with draws of its own
    std::uint64_t seed = 0;
};

struct StartPoint {
    std::int64_t fitSteps = 0; ///< of Adam; 0: what the fit begins with, the spectral start or the draw
    double fitError = 0;       ///< relative function error, the mean over layers and networks
    double lossAtStart = 0;    ///< on the held samples, the mean over networks
    double loss = 0;           ///< after training
    double lossError = 0;      ///< its standard error over networks; 0 for one
};
/// One point for each number of fit steps, side by side on so many threads; the same numbers whatever their count.
/// A fit stands as it was stopped, whatever its error. Errors: another method, counts below 1, a scale outside (0, 1],
/// negative fit steps, stoppedFit().
[[nodiscard]] Result<std::vector<StartPoint>>
lossByStart(const StartStudy& study, std::span<const std::int64_t> fitSteps, int threads, std::stop_token stop = {});

} // namespace residua::engine
