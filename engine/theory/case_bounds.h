// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/theory/dense_matrix.h"
#include "projects/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

/// The bounds of shortcut_bounds.h for given data and start.
namespace residua::engine::theory {

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
