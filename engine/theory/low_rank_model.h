// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/theory/dense_matrix.h"
#include "projects/base/result.h"

#include <cstdint>

/// The low-rank linear model of DeepCrossAttention §4 as calculators: y = A·x + noise, x isotropic in R^d, T linear
/// layers of ranks r_t, collective rank r* = Σ r_t < d. Excess risk = E‖(A − Â)x‖² = ‖A − Â‖_F².
///
/// Pure functions of their arguments: any thread, no state, no device. Losses are sums of squared errors in the data's
/// squared units, never means. Where a paper's printed statement and its proof differ, the functions give what the
/// proof supports; each place says so.
namespace residua::engine::theory {

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

} // namespace residua::engine::theory
