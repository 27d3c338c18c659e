// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/maths/lowrank/gaussian_error.h"
#include "engine/maths/lowrank/low_rank_problem.h"
#include "engine/maths/theory/dense_matrix.h"

#include <Eigen/Core>

namespace residua::engine::lowrank {

/// left [out, rank], right [rank, in].
struct Factors {
    Eigen::MatrixXd left;
    Eigen::MatrixXd right;
};

/// A problem that has been checked. With a root S of the inputs' covariance, x = S·z and z is N(0, I); `seen` is the
/// weight in terms of z.
struct Layer {
    Eigen::MatrixXd weight;      ///< [out, in]
    Eigen::MatrixXd root;        ///< S, symmetric, [in, in]; empty if the covariance is the identity
    Eigen::MatrixXd inverseRoot; ///< its pseudo-inverse; empty likewise
    Eigen::MatrixXd seen;        ///< weight·S
    Eigen::Index rank = 0;
    Eigen::Index kernel = 1; ///< rows of the weight that make one output, as LowRankProblem::kernel
    Nonlinearity follows{};
    std::uint64_t seed = 0;

    [[nodiscard]] bool hasCovariance() const { return root.size() > 0; }
    [[nodiscard]] Eigen::Index outputs() const { return weight.rows() / kernel; }
    /// Returns the sums over the rows of each output.
    [[nodiscard]] Eigen::VectorXd byOutput(const Eigen::VectorXd& rows) const
    {
        return rows.reshaped(kernel, outputs()).colwise().sum().transpose();
    }
    [[nodiscard]] Eigen::VectorXd fullSquares() const { return byOutput(seen.rowwise().squaredNorm()); }
};
/// Checks a problem. Errors: as fitLowRank's.
[[nodiscard]] Result<Layer> layerOf(const LowRankProblem& problem);

/// Returns the factors of definition 2.1: the r largest singular values, with their roots on each side.
[[nodiscard]] Factors spectralFactors(const Decomposition& weight, Eigen::Index rank);

/// Returns factors with the same product and equal norms on both sides: remark A.9.
[[nodiscard]] Factors balanced(const Factors& factors);

/// Returns the start of Baseline and Lfai: the problem's own draw, or one by the paper's law.
[[nodiscard]] Result<Factors> drawnFactors(const LowRankProblem& problem);

/// The error of a layer as a function of the factors.
class FactorError {
public:
    explicit FactorError(const Layer& layer);
    [[nodiscard]] double operator()(const Factors& factors) const;
    /// Returns all measures except spectralGapBound and seconds.
    [[nodiscard]] LowRankMeasures measures(const Factors& factors) const;
    /// Returns the bound of theorem 3.5 at these factors, for a Relu: ½ Σ (‖y_i‖ − ‖w_i‖·√h(ρ_i))². Setting the rows to
    /// their best norms would lower R by this amount, so the optimum is at least as far below. At the spectral factors
    /// ‖y_i‖ = ‖w_i‖·ρ_i, which gives the theorem's ½‖w ⊙ (√h(ρ) − ρ)‖²; it prints the bound divided by d.
    [[nodiscard]] double gapBound(const Factors& factors) const;

private:
    struct Squares {
        Eigen::VectorXd own;
        Eigen::VectorXd shared;
    };
    [[nodiscard]] Squares squaresOf(const Factors& factors) const;

    const Layer& m_layer;
    Eigen::VectorXd m_full;
    GaussianError m_error;
};

} // namespace residua::engine::lowrank
