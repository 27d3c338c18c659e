// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lowrank/low_rank_problem.h"

#include <cstdint>
#include <string>
#include <vector>

/// Features that stand for the softmax of one key-value head of an attention (appendix B of "Nonlinear Initialization
/// Methods for Low-Rank Neural Networks"; the features are Choromanski et al.'s, 2020, lemma 1). Pure functions of
/// their arguments: any thread, no state, doubles inside; the same problem gives the same bits.
///
/// With x' = x/e^¼, φ_i(x) = exp(ω_i·x' − ‖x'‖²/2) for the features ω_i, the attention matrix of queries q_s and keys
/// k_t is P̂_st = φ(q_s)·φ(k_t) / Σ_u φ(q_s)·φ(k_u), in the place of P = softmax(q·kᵀ/√e). Definition B.2 takes the mean
/// of ‖P·V − P̂·V‖² over values V with independent entries of one variance: that is ‖P − P̂‖_F² times a constant, so no
/// values are drawn.
namespace residua::engine {

/// Adam's course.
struct AttentionCourse {
    double learningRate = 5e-3;
    std::int64_t batch = 2; ///< sequences
    std::int64_t stepsPerEpoch = 64;
    std::int64_t epochs = projects::kLfaiEpochs; ///< at most: an epoch that no longer changes the error is the last
};

struct AttentionProblem {
    std::int64_t sequences = 0; ///< of which every second one is held out to judge by; one alone serves for both
    std::int64_t group = 1;     ///< query heads that share the keys
    std::int64_t length = 0;    ///< tokens of a sequence
    std::int64_t width = 0;     ///< e, features of a head
    std::int64_t features = 0;  ///< r
    bool causal = true;
    std::vector<double> queries; ///< [sequences, group, length, width]
    std::vector<double> keys;    ///< [sequences, length, width]
    std::vector<double> start;   ///< ω [features, width]
    AttentionCourse course;
};

/// Over the held-out sequences and the group.
struct AttentionError {
    double error = 0; ///< Σ‖P − P̂‖_F²
    double full = 0;  ///< Σ‖P‖_F²
    double own = 0;   ///< Σ‖P̂‖_F²
    [[nodiscard]] double relative() const { return full > 0 ? error / full : 0; }
};

struct AttentionFit {
    std::vector<double> features; ///< ω [features, width]
    AttentionError before;        ///< at the start
    AttentionError after; ///< never above `before`: what is kept is the best of all epochs, the start among them
    bool converged = true;
    std::string note;
    double seconds = 0; ///< what it took; the one number here that differs from time to time
};

/// Errors, without a place: counts below 1 or that do not fit, a value that is not finite, a course without steps or
/// rate, and stoppedFit().
[[nodiscard]] Result<AttentionFit> fitAttention(const AttentionProblem& problem, const LowRankWatch& watch = {});

/// The error that the features ω [features, width] leave.
[[nodiscard]] Result<AttentionError> measureAttention(const AttentionProblem& problem,
                                                      const std::vector<double>& features);

} // namespace residua::engine
