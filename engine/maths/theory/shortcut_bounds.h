// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstdint>

/// Calculators for bounds of the loss of linear networks with one shortcut (ANCRe §3 and appendix B): K layers,
/// gradient flow on ½‖f(X) − Y‖_F², X X^T = I.
///
/// Pure functions of their arguments: any thread, no state, no device. Losses are sums of squared errors in the data's
/// squared units, never means. If a paper's printed statement and its proof differ, the functions follow the proof;
/// each place says so.
namespace residua::engine::theory {

/// Returns the bound of Theorem 3.2 (B.1) and B.4 for the shortcut 0:1. A coordinate with target 0 that starts at a(0)
/// = (1 + W_1)·W_2 ⋯ W_K keeps the loss at or above ½a(t)², a(t) = (a(0)^−m + K·m·t)^(−1/m), m = 2(K − 2)/(K − 1). That
/// is Ω(t^−(K−1)/(K−2)): 1/t² for K = 3, as printed. (The printed last line of the proof loses the ½. B.4 gives no
/// rate; this one follows its steps: a' = −u^2(K−1)·a − (K−1)·w²u^2(K−2)·a ≥ −K·a^(1+m), for 0 < u ≤ w ≤ 1, a =
/// w·u^(K−1).) Returns an error for K < 3, a(0) outside (0, 1], or t < 0.
[[nodiscard]] Result<double> slowLossBound(std::int64_t layers, double start, double time);

/// Returns the bound for gradient descent after `step` steps of size η, proved for the discrete steps: t = c·η·step
/// with c = ((1 − q)^−m − 1)/(m·q), q = ηK·a(0)^m; c → 1 as η → 0. Also returns an error for η ≤ 0, q ≥ 1, or step < 0.
[[nodiscard]] Result<double> slowLossBoundAtStep(std::int64_t layers, double start, std::int64_t step,
                                                 double learningRate);

/// Returns the bound of Theorem 3.3 (B.6) for the shortcut 0:K−1: L(0)·exp(−2(1 − λ)²t). For gradient descent use t =
/// η·step: like the paper, this bound holds for the gradient flow, the limit of small η. Returns an error for λ outside
/// [0, 1), L(0) < 0, or t < 0.
[[nodiscard]] Result<double> fastLossBound(double initialLoss, double lambda, double time);

/// Returns δ of Theorem B.6, the largest ‖W_k(0)‖_F for which the bound with λ holds: δ = √β·exp(−√(2βL(0))/(1 − λ)² −
/// √(2π)L(0)/(2(1 − λ)³)), β = (λ/2)^(2/(K−1)). For K = 3 this is the printed statement, whose first term is √(λL(0)).
/// (The proof once has √(2L(0)) instead; its steps need the statement's term.) B.4 does not give δ. By its steps, S =
/// Σ_{k<K}‖W_k‖² grows at most by e^M, with the same M, while S ≤ K − 1. Therefore ‖W_{K−1}⋯W_1‖ ≤ (S/(K−1))^((K−1)/2)
/// ≤ λ/2 at all times. Returns an error for K < 3, λ outside (0, 1), or L(0) < 0.
[[nodiscard]] Result<double> largestStart(std::int64_t layers, double initialLoss, double lambda);

/// Returns the smallest λ (the fastest guaranteed decrease) with a δ that admits weights of this largest Frobenius
/// norm. Returns an error for K < 3, a negative or non-finite argument, or if no λ admits the norm; the message then
/// gives the largest admissible norm.
[[nodiscard]] Result<double> smallestLambda(std::int64_t layers, double initialLoss, double largestNorm);

} // namespace residua::engine::theory
