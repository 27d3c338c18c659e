// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/maths/theory/dense_matrix.h"
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

/// One premise of a theorem, for display in a plot: "‖W_k(0)‖ ≤ δ", met or not, with the numbers.
struct Premise {
    std::string text;
    bool met = false;
    std::string got;
};

/// Theorem 3.2 for given data and start. If the premises do not hold, atTime and atStep return the trivial bound
/// `residual`; atStep also does if η is too large for slowLossBoundAtStep.
struct SlowBound {
    std::vector<Premise> premises;
    std::int64_t layers = 0;
    double residual = 0; ///< ½(‖Y‖² − ‖YX^T‖²): the part outside X's rows, which no linear map can remove
    std::vector<double> starts; ///< a(0) of every coordinate that meets the premises
    [[nodiscard]] bool holds() const;
    [[nodiscard]] double atTime(double time) const;
    [[nodiscard]] double atStep(std::int64_t step, double learningRate) const;
};
/// Returns the bound. Premises beyond K ≥ 3 and X X^T = I: some coordinate i has (Y X^T)_ii = 0, its row and column are
/// otherwise 0 in Y X^T and in every W_k, and 0 < W_2[i,i] = … = W_K[i,i] ≤ 1 + W_1[i,i] ≤ 1. (The paper makes every
/// matrix diagonal, W_1 in [−½, 0] and W_2 … in (0, ½]; its proof uses only the above.) Bounds of several such
/// coordinates add up. Returns an error for mismatched shapes and for values that are not finite.
[[nodiscard]] Result<SlowBound> slowBound(const LinearCase& start);

/// Theorem 3.3 for given data and start. If the premises do not hold, atTime returns +∞.
struct FastBound {
    std::vector<Premise> premises;
    double lambda = 1;        ///< the smallest λ that the start allows
    double removableLoss = 0; ///< ½‖f(0) − YX^T‖², the L(0) of the theorem
    double residual = 0;      ///< as in SlowBound; the paper's equality (12) has Y = A·X, so 0
    [[nodiscard]] bool holds() const;
    [[nodiscard]] double atTime(double time) const;
    /// Returns atTime(η·step).
    [[nodiscard]] double atStep(std::int64_t step, double learningRate) const;
};
/// Returns the bound. Premises: K ≥ 3, X X^T = I, every ‖W_k(0)‖_F ≤ δ(λ) for some λ. Errors as for slowBound.
[[nodiscard]] Result<FastBound> fastBound(const LinearCase& start);

} // namespace residua::engine::theory
