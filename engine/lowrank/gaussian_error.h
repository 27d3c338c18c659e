// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lowrank/low_rank_problem.h"

#include <Eigen/Core>

namespace residua::engine::lowrank {

/// E(σ(u) − σ(v))² for two Gaussians of mean 0, u of a factored layer's output and v of the full one's, row by row.
/// With s = E u², w = E v² and c = E uv:
/// - Identity: s + w − 2c.
/// - Relu: ½s + ½w − √(sw)·√h(ρ), ρ = c/√(sw), √h as in definition 3.2 (the arc-cosine kernel).
/// - Gelu (by erf): in closed form too, by Stein's identity E[u·g] = s·E[∂g/∂u] + c·E[∂g/∂v], applied until densities
///   are left.
/// - Silu: both functions in Hermite polynomials (lemma A.3), Σ_l (a_l² + b_l² − 2·a_l·b_l·ρ^l) with
///   a_l = E[σ(√s·z)·H_l(z)] by Gauss-Hermite quadrature. What the kDegrees terms leave out is below 1e-9 of E σ² for
///   standard deviations up to 2, below 1e-5 up to 5 and below 1e-3 beyond. Of the odd degrees the first alone is not
///   0.
class GaussianError {
public:
    static constexpr int kDegrees = 64;
    static constexpr int kNodes = 128;

    /// `full`: w for each row, not negative.
    GaussianError(Nonlinearity follows, Eigen::VectorXd full);

    struct Rows {
        Eigen::VectorXd error; ///< of each row
        /// The gradient of a row's error by the factored row y, in coordinates where the inputs' covariance is the
        /// identity: byOwn·y + byFull·(row of the weight).
        Eigen::VectorXd byOwn;
        Eigen::VectorXd byFull;
    };
    /// s and c for each row; |c| above √(sw) by rounding is taken as equal to it.
    [[nodiscard]] Rows operator()(const Eigen::VectorXd& own, const Eigen::VectorXd& shared) const;

    /// Σ E σ(v)², what the full layer gives.
    [[nodiscard]] double fullFunction() const;

private:
    Nonlinearity m_follows;
    Eigen::VectorXd m_full;
    Eigen::MatrixXd m_fullHermite; ///< b_l of the even degrees l for Silu: [kDegrees / 2, rows]
};

/// √h of definition 3.2, for ρ in [−1, 1].
[[nodiscard]] double sqrtH(double rho);

/// σ and its derivative, in place: `values` become σ(values), `slopes` σ'(values). For samples.
void applyNonlinearity(Nonlinearity follows, Eigen::MatrixXd& values);
void applyNonlinearity(Nonlinearity follows, Eigen::MatrixXd& values, Eigen::MatrixXd& slopes);

} // namespace residua::engine::lowrank
