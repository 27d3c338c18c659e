// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/random.h"

#include <Eigen/Core>

namespace residua::engine {

/// A dense matrix of doubles, row-major.
using DenseMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Wrappers of Eigen's decompositions, so that each is compiled once: one takes the compiler ten to forty seconds.

/// U·diag(values)·Vᵀ, thin, with descending values.
struct Decomposition {
    Eigen::MatrixXd u;
    Eigen::VectorXd values;
    Eigen::MatrixXd v;
};
[[nodiscard]] Decomposition decomposed(const Eigen::MatrixXd& matrix);

/// vectors·diag(values)·vectorsᵀ of a symmetric matrix, with ascending values.
struct Eigensystem {
    Eigen::VectorXd values;
    Eigen::MatrixXd vectors;
};
/// Returns the eigensystem. Reads the lower triangle only.
[[nodiscard]] Eigensystem eigensystem(const Eigen::MatrixXd& symmetric);
/// Returns the ascending eigenvalues of a symmetric tridiagonal matrix with these entries on and beside the diagonal.
[[nodiscard]] Eigen::VectorXd tridiagonalEigenvalues(const Eigen::VectorXd& diagonal, const Eigen::VectorXd& beside);

/// q·r of a matrix with at least as many rows as columns: q has orthonormal columns, r is upper triangular.
struct OrthogonalTriangular {
    Eigen::MatrixXd q;
    Eigen::MatrixXd r;
};
[[nodiscard]] OrthogonalTriangular orthogonalTriangular(const Eigen::MatrixXd& matrix);

/// Returns independent numbers from N(0, deviation²), drawn in the matrix's storage order.
template <class Matrix = DenseMatrix>
[[nodiscard]] Matrix gaussianMatrix(Eigen::Index rows, Eigen::Index columns, RandomStream& random, double deviation = 1)
{
    return Matrix::NullaryExpr(rows, columns, [&] { return deviation * random.gaussian(); });
}

} // namespace residua::engine
