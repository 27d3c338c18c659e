// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/maths/lowrank/low_rank_problem.h"

#include <Eigen/Core>

namespace residua::engine::lowrank {

/// E(σ(u) − σ(v))² for two zero-mean Gaussians: u an output of the factored layer and v of the full one, row by row.
/// With s = E u², w = E v² and c = E uv:
/// - Identity: s + w − 2c.
/// - Relu: ½s + ½w − √(sw)·√h(ρ), ρ = c/√(sw), √h as in definition 3.2 (the arc-cosine kernel).
/// - Gelu (by erf): a closed form too, by Stein's identity E[u·g] = s·E[∂g/∂u] + c·E[∂g/∂v], applied until only
///   densities remain.
/// - Silu: both functions in Hermite polynomials (lemma A.3), Σ_l (a_l² + b_l² − 2·a_l·b_l·ρ^l) with a_l =
///   E[σ(√s·z)·H_l(z)] by Gauss-Hermite quadrature. The error of truncating to kDegrees terms is below 1e-9 of E σ² for
///   standard deviations up to 2, below 1e-5 up to 5 and below 1e-3 beyond. Odd degrees above the first are 0.
class GaussianError {
public:
    static constexpr int kDegrees = 64;
    static constexpr int kNodes = 128;

    /// `full` is w for each row, not negative.
    GaussianError(Nonlinearity follows, Eigen::VectorXd full);

    struct Rows {
        Eigen::VectorXd error; ///< of each row
        /// The gradient of a row's error by the factored row y, in coordinates with identity input covariance: byOwn·y
        /// + byFull·(row of the weight).
        Eigen::VectorXd byOwn;
        Eigen::VectorXd byFull;
    };
    /// Computes the rows' errors from s and c. If rounding makes |c| larger than √(sw), uses √(sw).
    [[nodiscard]] Rows operator()(const Eigen::VectorXd& own, const Eigen::VectorXd& shared) const;

    /// Returns Σ E σ(v)², the function of the full layer.
    [[nodiscard]] double fullFunction() const;

private:
    Nonlinearity m_follows;
    Eigen::VectorXd m_full;
    Eigen::MatrixXd m_fullHermite; ///< b_l of the even degrees l for Silu: [kDegrees / 2, rows]
};

/// Returns √h of definition 3.2, for ρ in [−1, 1].
[[nodiscard]] double sqrtH(double rho);

/// Replace `values` by σ(values), and `slopes` by σ'(values). For samples.
void applyNonlinearity(Nonlinearity follows, Eigen::MatrixXd& values);
void applyNonlinearity(Nonlinearity follows, Eigen::MatrixXd& values, Eigen::MatrixXd& slopes);

} // namespace residua::engine::lowrank
