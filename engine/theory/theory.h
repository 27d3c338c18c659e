// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/theory/dense_matrix.h"
#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// What the papers prove about depth topologies, as calculators. Pure functions of their arguments: any thread, no
/// state, no device. Losses are sums of squared errors in the data's squared units, never means.
///
/// Where a paper's printed statement and its proof differ, the functions give what the proof supports; each place says
/// so.
namespace residua::engine::theory {

// ---- Low-rank linear model: DeepCrossAttention §4. y = A·x + noise, x isotropic in R^d, T linear layers of ranks r_t,
// ---- collective rank r* = Σ r_t < d. Excess risk = E‖(A − Â)x‖² = ‖A − Â‖_F².

/// Lemma B.1 of the paper adds 3/2 and (d − 1)/2 to (d + 1)/2; the sum is (d + 2)/2. All GRN-v3 formulas inherit it:
/// `Proved` has π(d + 2) and ξ₀ = 1/(π(d + 2)(d − 1)), `Printed` has π(d + 1) and ξ₀ = 1/(π(d² − 1)), which no proof
/// backs.
enum class Statement { Proved, Printed };

/// Theorem 4.2. The ResNet value is exact; the others bound the least excess risk of their class from above (an
/// infimum: the class need not reach it). GRN-v3's needs x Gaussian, and the limit: its
/// w is shared by all entries, so Theorem 4.1's gate on x alone takes branches scaled by ε → 0 and b by 1/ε.
struct ExcessRisk {
    double resNet = 0;
    double grnV1 = 0;
    double grnV2 = 0;
    double grnV3 = 0;
};
/// A: [d, d]. Errors: A not square, not finite or empty; r* outside 0..d − 1.
[[nodiscard]] Result<ExcessRisk> excessRisk(const DenseMatrix& a, std::int64_t collectiveRank,
                                            Statement statement = Statement::Proved);

/// The plain chain without shortcuts (Theorem 4.1): the best approximation of A of rank min_t r_t. Exact.
/// Errors as above; rank 0..d.
[[nodiscard]] Result<double> excessRiskWithoutShortcuts(const DenseMatrix& a, std::int64_t smallestRank);

/// What Theorem 4.3 and Proposition 4.4 know of the target: eigenvalues of A − I, 0 < λ_min ≤ λ_max.
struct TargetSpectrum {
    double lambdaMin = 0;
    double lambdaMax = 0;
    /// "Complexity" of the target, in (0, 1].
    [[nodiscard]] double kappa() const { return lambdaMin / lambdaMax; }
};
/// Errors: as for excessRisk, and A not symmetric, or A − I not positive definite.
[[nodiscard]] Result<TargetSpectrum> targetSpectrum(const DenseMatrix& a);

/// One number for each generalised residual network. Ranks are real here, so that curves can be drawn.
struct PerGrn {
    double v1 = 0;
    double v2 = 0;
    double v3 = 0;
};
/// Theorem 4.3 (i), equations 4.1 to 4.3: with r* up to this, a GRN of as many parameters has no more excess risk than
/// the ResNet. (4.1 is printed as r*/d; this is r*.) Below 0: never. Errors: κ outside [0, 1], d < 2.
[[nodiscard]] Result<PerGrn> rankThresholds(double kappa, std::int64_t d, Statement statement = Statement::Proved);

/// Theorem 4.3 (ii), figure 5: lower bounds of G1, G2, G3, the excess risk that a GRN of as many parameters saves over
/// a ResNet of collective rank r*. Negative: nothing is promised. Errors: not 0 < λ_min ≤ λ_max, d < 2, r* outside [1,
/// d).
[[nodiscard]] Result<PerGrn> gainBounds(const TargetSpectrum& target, std::int64_t d, double collectiveRank,
                                        Statement statement = Statement::Proved);

/// Proposition 4.4: the collective rank at which a GRN has at most the excess risk of the ResNet with r*. Real numbers
/// below r*; a network takes the next integer up, at least 0 (v1, v2) or 1 (v3, whose proof needs one layer). v1 and v2
/// agree. κ = 1 gives −∞: A − I is λI, and a scale alone fits it. Errors: κ outside [0, 1], d < 2, r* outside [1, d).
[[nodiscard]] Result<PerGrn> equivalentRanks(double kappa, std::int64_t d, double collectiveRank,
                                             Statement statement = Statement::Proved);

enum class DepthModel { ResNet, GrnV1, GrnV2, GrnV3 };
/// The paper's count (§4.2; for GRN-v3, the proof of Lemma C.1): 2d·r* for the layers, then T(T − 1)/2 scalars, as many
/// d-vectors, or those and T gates. Mixing weights that the layers' scales absorb are left out, so the count is lower
/// than a project's. Errors: d, T or r* below 1, r* < T (each layer has rank 1 at least), a count beyond 64 bits.
[[nodiscard]] Result<std::int64_t> modelSize(DepthModel model, std::int64_t d, std::int64_t layers,
                                             std::int64_t collectiveRank);

// ---- Linear networks with one shortcut: ANCRe §3 and appendix B. K layers, gradient flow on ½‖f(X) − Y‖_F², X X^T =
// I.

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

/// A case study: X [d, n], Y [d, n], W_1 … W_K at step 0, each [d, d].
struct LinearCase {
    DenseMatrix x;
    DenseMatrix y;
    std::vector<DenseMatrix> weights;
};

/// One premise of a theorem, for the plot to show: "‖W_k(0)‖ ≤ δ", met or not, with the numbers.
struct Premise {
    std::string text;
    bool met = false;
    std::string got;
};

/// Theorem 3.2 for given data and start. Without its premises atTime and atStep fall to the trivial bound, `residual`;
/// atStep also where η is too large for slowLossBoundAtStep.
struct SlowBound {
    std::vector<Premise> premises;
    std::int64_t layers = 0;
    double residual = 0; ///< ½(‖Y‖² − ‖YX^T‖²): what lies outside X's rows, and no linear map removes
    std::vector<double> starts; ///< a(0) of every coordinate that meets the premises
    [[nodiscard]] bool holds() const;
    [[nodiscard]] double atTime(double time) const;
    [[nodiscard]] double atStep(std::int64_t step, double learningRate) const;
};
/// Premises beyond K ≥ 3 and X X^T = I: some coordinate i with (Y X^T)_ii = 0 whose row and column are otherwise 0 in Y
/// X^T and in every W_k, and 0 < W_2[i,i] = … = W_K[i,i] ≤ 1 + W_1[i,i] ≤ 1. (The paper makes every matrix diagonal and
/// asks for W_1 in [−½, 0], W_2 … in (0, ½]; its proof uses only this.) Bounds of several such coordinates add up.
/// Errors: shapes that do not fit, a value that is not finite.
[[nodiscard]] Result<SlowBound> slowBound(const LinearCase& start);

/// Theorem 3.3 for given data and start. Without its premises atTime is +∞.
struct FastBound {
    std::vector<Premise> premises;
    double lambda = 1;        ///< the smallest that the start allows
    double removableLoss = 0; ///< ½‖f(0) − YX^T‖², the L(0) of the theorem
    double residual = 0;      ///< as in SlowBound; the paper's equality (12) has Y = A·X, so 0
    [[nodiscard]] bool holds() const;
    [[nodiscard]] double atTime(double time) const;
    /// t = η·step.
    [[nodiscard]] double atStep(std::int64_t step, double learningRate) const;
};
/// Premises: K ≥ 3, X X^T = I, every ‖W_k(0)‖_F ≤ δ(λ) for some λ. Errors as for slowBound.
[[nodiscard]] Result<FastBound> fastBound(const LinearCase& start);

} // namespace residua::engine::theory
