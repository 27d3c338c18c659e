// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/maths/lowrank/low_rank_problem.h"

#include <cstdint>
#include <span>
#include <vector>

/// Figure 2 of "Nonlinear Initialization Methods for Low-Rank Neural Networks" at a small scale: how much a closer
/// start of the factors improves the result of training. The paper stops its warm-started fit after some number of
/// steps and plots an EfficientNet-b7's accuracy against the layers' mean error. Here the result is the validation loss
/// of small networks, with fits that start warm or from the draw.
namespace residua::engine {

/// A teacher with one hidden layer of ReLUs, y = Σ_j ±ReLU(a_j·x)/√k, x ~ N(0, I). It is learned by
/// wᵀ·ReLU(W_2·ReLU(W_1·x)) with W_1 [width, inputs] and W_2 [width, width] in factors. These are drawn from N(0,
/// 2/in), fitted by Adam on samples, and trained with w by Adam on the squared error.
struct StartStudy {
    LowRankMethod method = LowRankMethod::LfaiWs; ///< or Lfai
    std::int64_t inputs = 16;
    std::int64_t width = 64;
    double rankScale = 0.125;
    std::int64_t teacher = 24; ///< k
    std::int64_t samples = 2000;
    std::int64_t held = 1000; ///< for validation
    std::int64_t batch = 50;
    std::int64_t steps = 1600;
    double learningRate = 1e-3;
    std::int64_t networks = 6; ///< each with its own draws; results are means over them
    std::uint64_t seed = 0;
};

struct StartPoint {
    std::int64_t fitSteps = 0; ///< of Adam; 0: the start of the fit, which is the spectral start or the draw
    double fitError = 0;       ///< the relative function error, averaged over layers and networks
    double lossAtStart = 0;    ///< on the held-out samples, averaged over networks
    double loss = 0;           ///< after training
    double lossError = 0;      ///< the standard error of `loss` over networks; 0 for one network
};
/// Returns one point for each number of fit steps, computed in parallel on `threads` threads; the numbers are equal for
/// any count. A fit is used as it was stopped, whatever its error. Returns an error for another method, counts below 1,
/// a scale outside (0, 1], negative fit steps, and stoppedFit().
[[nodiscard]] Result<std::vector<StartPoint>>
lossByStart(const StartStudy& study, std::span<const std::int64_t> fitSteps, int threads, std::stop_token stop = {});

} // namespace residua::engine
