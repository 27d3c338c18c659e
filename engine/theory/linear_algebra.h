// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/theory/theory.h"

#include <vector>

/// The little linear algebra that the theory needs, for matrices of a few hundred rows. Shapes that do not fit are the
/// caller's mistake: the calculators check them before.
namespace residua::engine::theory {

[[nodiscard]] DenseMatrix transposed(const DenseMatrix& a);
/// a·b: [m, k]·[k, n].
[[nodiscard]] DenseMatrix product(const DenseMatrix& a, const DenseMatrix& b);
/// a^T·b: [k, m], [k, n] → [m, n].
[[nodiscard]] DenseMatrix productWithFirstTransposed(const DenseMatrix& a, const DenseMatrix& b);
/// a·b^T: [m, k], [n, k] → [m, n].
[[nodiscard]] DenseMatrix productWithSecondTransposed(const DenseMatrix& a, const DenseMatrix& b);
/// target += scale·a.
void addScaled(DenseMatrix& target, const DenseMatrix& a, double scale);
[[nodiscard]] double innerProduct(const DenseMatrix& a, const DenseMatrix& b);
[[nodiscard]] double frobeniusNorm(const DenseMatrix& a);
[[nodiscard]] double trace(const DenseMatrix& a);
[[nodiscard]] DenseMatrix symmetricPart(const DenseMatrix& a);
[[nodiscard]] bool isFinite(const DenseMatrix& a);

/// Eigenvalues of a symmetric matrix, largest first; cyclic Jacobi. Only the symmetric part counts.
[[nodiscard]] std::vector<double> symmetricEigenvalues(const DenseMatrix& a);

/// a = u·diag(sigma)·v^T for a square matrix: u, v [d, d] with singular vectors as columns, sigma largest first.
/// Columns of u whose sigma is 0 (to rounding) are 0.
struct Svd {
    DenseMatrix u;
    std::vector<double> sigma;
    DenseMatrix v;
};
/// One-sided Jacobi (Hestenes).
[[nodiscard]] Svd singularValues(const DenseMatrix& a);

} // namespace residua::engine::theory
