// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/maths/theory/dense_matrix.h"
#include "projects/base/result.h"

#include <cstdint>

/// Calculators for the low-rank linear model of DeepCrossAttention §4: y = A·x + noise, x isotropic in R^d, T linear
/// layers of ranks r_t, collective rank r* = Σ r_t < d. Excess risk = E‖(A − Â)x‖² = ‖A − Â‖_F².
///
/// Pure functions of their arguments: any thread, no state, no device. Losses are sums of squared errors in the data's
/// squared units, never means. If a paper's printed statement and its proof differ, the functions follow the proof;
/// each place says so.
namespace residua::engine::theory {

/// The paper's Lemma B.1 adds 3/2 and (d − 1)/2 to (d + 1)/2; the correct sum is (d + 2)/2. All GRN-v3 formulas inherit
/// this: `Proved` has π(d + 2) and ξ₀ = 1/(π(d + 2)(d − 1)); `Printed` has π(d + 1) and ξ₀ = 1/(π(d² − 1)), which has
/// no proof.
enum class Statement { Proved, Printed };

/// Theorem 4.2. The ResNet value is exact. The others are upper bounds of the least excess risk of their class (an
/// infimum, which the class need not reach). GRN-v3's requires a Gaussian x, and a limit: its w is shared by all
/// entries, so a gate on x alone, as in Theorem 4.1, needs branches scaled by ε → 0 and b by 1/ε.
struct ExcessRisk {
    double resNet = 0;
    double grnV1 = 0;
    double grnV2 = 0;
    double grnV3 = 0;
};
/// Returns the risks. `a` is [d, d]. Returns an error if it is not square, not finite or empty, or if r* is outside 0
/// to d − 1.
[[nodiscard]] Result<ExcessRisk> excessRisk(const DenseMatrix& a, std::int64_t collectiveRank,
                                            Statement statement = Statement::Proved);

/// Returns the risk of the plain chain without shortcuts (Theorem 4.1): the best approximation of A of rank min_t r_t.
/// Exact. Errors as for excessRisk; ranks 0 to d are allowed.
[[nodiscard]] Result<double> excessRiskWithoutShortcuts(const DenseMatrix& a, std::int64_t smallestRank);

/// The properties of the target in Theorem 4.3 and Proposition 4.4: eigenvalues of A − I, 0 < λ_min ≤ λ_max.
struct TargetSpectrum {
    double lambdaMin = 0;
    double lambdaMax = 0;
    /// Returns the "complexity" of the target, in (0, 1].
    [[nodiscard]] double kappa() const { return lambdaMin / lambdaMax; }
};
/// Returns the spectrum. Errors as for excessRisk, and if A is not symmetric or A − I is not positive definite.
[[nodiscard]] Result<TargetSpectrum> targetSpectrum(const DenseMatrix& a);

/// One number for each generalised residual network. Ranks are real numbers here, so that curves can be drawn.
struct PerGrn {
    double v1 = 0;
    double v2 = 0;
    double v3 = 0;
};
/// Returns the thresholds of Theorem 4.3 (i), equations 4.1 to 4.3. If r* is at most this, a GRN with as many
/// parameters has no more excess risk than the ResNet. (4.1 is printed as r*/d; this is r*.) Below 0: never. Returns an
/// error for κ outside [0, 1] or d < 2.
[[nodiscard]] Result<PerGrn> rankThresholds(double kappa, std::int64_t d, Statement statement = Statement::Proved);

/// Returns the lower bounds of G1, G2 and G3 of Theorem 4.3 (ii), figure 5: the excess risk that a GRN with as many
/// parameters saves over a ResNet of collective rank r*. Negative values guarantee nothing. Returns an error unless 0 <
/// λ_min ≤ λ_max, d ≥ 2 and r* is in [1, d).
[[nodiscard]] Result<PerGrn> gainBounds(const TargetSpectrum& target, std::int64_t d, double collectiveRank,
                                        Statement statement = Statement::Proved);

/// Returns, by Proposition 4.4, the collective rank at which a GRN has at most the excess risk of the ResNet with r*.
/// These are real numbers below r*; a network uses the next integer, at least 0 (v1, v2) or 1 (v3, whose proof needs
/// one layer). v1 and v2 are equal. κ = 1 gives −∞: A − I is λI, which a scale alone fits. Returns an error for κ
/// outside [0, 1], d < 2, or r* outside [1, d).
[[nodiscard]] Result<PerGrn> equivalentRanks(double kappa, std::int64_t d, double collectiveRank,
                                             Statement statement = Statement::Proved);

enum class DepthModel { ResNet, GrnV1, GrnV2, GrnV3 };
/// Returns the paper's number of parameters (§4.2; for GRN-v3, the proof of Lemma C.1): 2d·r* for the layers, plus T(T
/// − 1)/2 scalars, as many d-vectors, or those and T gates. Mixing weights that the layers' scales absorb are not
/// counted, so the number is lower than a project's. Returns an error for d, T or r* below 1, r* < T (each layer has
/// rank 1 at least), or a count beyond 64 bits.
[[nodiscard]] Result<std::int64_t> modelSize(DepthModel model, std::int64_t d, std::int64_t layers,
                                             std::int64_t collectiveRank);

} // namespace residua::engine::theory
