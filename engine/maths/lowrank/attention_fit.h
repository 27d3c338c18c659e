// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/maths/lowrank/low_rank_problem.h"

#include <cstdint>
#include <string>
#include <vector>

/// Features that approximate the softmax of one key-value head of an attention (appendix B of "Nonlinear Initialization
/// Methods for Low-Rank Neural Networks"; the features are those of Choromanski et al., 2020, lemma 1). Pure functions
/// of their arguments: any thread, no state, doubles inside; equal problems give equal bits.
///
/// With x' = x/e^¼ and φ_i(x) = exp(ω_i·x' − ‖x'‖²/2) for the features ω_i, queries q_s and keys k_t have the attention
/// matrix P̂_st = φ(q_s)·φ(k_t) / Σ_u φ(q_s)·φ(k_u) instead of P = softmax(q·kᵀ/√e). Definition B.2 takes the mean of
/// ‖P·V − P̂·V‖² over values V with independent entries of one variance. This is ‖P − P̂‖_F² times a constant, so no
/// values are drawn.
namespace residua::engine {

/// The schedule of Adam.
struct AttentionCourse {
    double learningRate = 5e-3;
    std::int64_t batch = 2; ///< sequences
    std::int64_t stepsPerEpoch = 64;
    /// The maximum; the fit ends earlier if an epoch hardly changes the error.
    std::int64_t epochs = projects::kLfaiEpochs;
};

struct AttentionProblem {
    std::int64_t sequences = 0; ///< every second one is held out for measuring; a single one is used for both
    std::int64_t group = 1;     ///< the number of query heads that share the keys
    std::int64_t length = 0;    ///< tokens per sequence
    std::int64_t width = 0;     ///< e, the features of a head
    std::int64_t features = 0;  ///< r
    bool causal = true;
    std::vector<double> queries; ///< [sequences, group, length, width]
    std::vector<double> keys;    ///< [sequences, length, width]
    std::vector<double> start;   ///< ω [features, width]
    AttentionCourse course;
};

/// Sums over the held-out sequences and the group.
struct AttentionError {
    double error = 0; ///< Σ‖P − P̂‖_F²
    double full = 0;  ///< Σ‖P‖_F²
    double own = 0;   ///< Σ‖P̂‖_F²
    [[nodiscard]] double relative() const { return full > 0 ? error / full : 0; }
};

struct AttentionFit {
    std::vector<double> features; ///< ω [features, width]
    AttentionError before;        ///< at the start
    AttentionError after;         ///< never above `before`, because the best of all epochs is kept, including the start
    bool converged = true;
    std::string note;
    double seconds = 0; ///< the duration; the only value that differs between equal fits
};

/// Fits features. Returns an error without a place for counts below 1 or inconsistent sizes, a value that is not
/// finite, a schedule without steps or rate, and stoppedFit().
[[nodiscard]] Result<AttentionFit> fitAttention(const AttentionProblem& problem, const LowRankWatch& watch = {});

/// Returns the error of the features ω [features, width].
[[nodiscard]] Result<AttentionError> measureAttention(const AttentionProblem& problem,
                                                      const std::vector<double>& features);

} // namespace residua::engine
