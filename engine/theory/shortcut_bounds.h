// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstdint>

/// Bounds of the loss of linear networks with one shortcut (ANCRe §3 and appendix B) as calculators: K layers, gradient
/// flow on ½‖f(X) − Y‖_F², X X^T = I.
///
/// Pure functions of their arguments: any thread, no state, no device. Losses are sums of squared errors in the data's
/// squared units, never means. Where a paper's printed statement and its proof differ, the functions give what the
/// proof supports; each place says so.
namespace residua::engine::theory {

/// Theorem 3.2 (B.1) and B.4, shortcut 0:1: a coordinate with target 0 that starts at a(0) = (1 + W_1)·W_2 ⋯ W_K keeps
/// the loss at or above ½a(t)², a(t) = (a(0)^−m + K·m·t)^(−1/m), m = 2(K − 2)/(K − 1). That is Ω(t^−(K−1)/(K−2)): 1/t²
/// for K = 3, as printed. (The printed last line of the proof loses the ½. B.4 names no rate; this one follows its
/// steps: a' = −u^2(K−1)·a − (K−1)·w²u^2(K−2)·a ≥ −K·a^(1+m), for 0 < u ≤ w ≤ 1, a = w·u^(K−1).) Errors: K < 3, a(0)
/// outside (0, 1], t < 0.
[[nodiscard]] Result<double> slowLossBound(std::int64_t layers, double start, double time);

/// The same for gradient descent after `step` steps of size η, proved for the discrete steps: t = c·η·step with
/// c = ((1 − q)^−m − 1)/(m·q), q = ηK·a(0)^m; c → 1 as η → 0. Errors: also η ≤ 0, q ≥ 1, step < 0.
[[nodiscard]] Result<double> slowLossBoundAtStep(std::int64_t layers, double start, std::int64_t step,
                                                 double learningRate);

/// Theorem 3.3 (B.6), shortcut 0:K−1: L(0)·exp(−2(1 − λ)²t). For gradient descent read t = η·step: the paper proves the
/// flow, the limit of small η, and so does this. Errors: λ outside [0, 1), L(0) < 0, t < 0.
[[nodiscard]] Result<double> fastLossBound(double initialLoss, double lambda, double time);

/// δ of Theorem B.6: what every ‖W_k(0)‖_F may be at most for the bound with λ to hold:
/// δ = √β·exp(−√(2βL(0))/(1 − λ)² − √(2π)L(0)/(2(1 − λ)³)), β = (λ/2)^(2/(K−1)). For K = 3 that is the printed
/// statement, whose first term is √(λL(0)) (the proof repeats it once as √(2L(0)); the statement is what the steps
/// need). B.4 leaves δ open; by B.4's steps S = Σ_{k<K}‖W_k‖² grows at most by e^M, the same M, while S ≤ K − 1, and so
/// ‖W_{K−1}⋯W_1‖ ≤ (S/(K−1))^((K−1)/2) ≤ λ/2 for ever. Errors: K < 3, λ outside (0, 1), L(0) < 0.
[[nodiscard]] Result<double> largestStart(std::int64_t layers, double initialLoss, double lambda);

/// The smallest λ (the fastest promise) whose δ admits weights of this largest Frobenius norm. Errors: K < 3, a
/// negative or non-finite argument, or no λ admits it: the message names the largest norm that any λ admits.
[[nodiscard]] Result<double> smallestLambda(std::int64_t layers, double initialLoss, double largestNorm);

} // namespace residua::engine::theory
