// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Eigen/Core>

/// Eigen's decompositions behind functions, so that each is compiled once: one takes the compiler ten to forty seconds.
namespace residua::engine {

/// U·diag(values)·Vᵀ, thin, the values descending.
struct Decomposition {
    Eigen::MatrixXd u;
    Eigen::VectorXd values;
    Eigen::MatrixXd v;
};
[[nodiscard]] Decomposition decomposed(const Eigen::MatrixXd& matrix);

/// vectors·diag(values)·vectorsᵀ of a symmetric matrix, the values ascending.
struct Eigensystem {
    Eigen::VectorXd values;
    Eigen::MatrixXd vectors;
};
/// Reads the lower triangle.
[[nodiscard]] Eigensystem eigensystem(const Eigen::MatrixXd& symmetric);
/// The eigenvalues, ascending, of a symmetric matrix with nothing but these on the diagonal and beside it.
[[nodiscard]] Eigen::VectorXd tridiagonalEigenvalues(const Eigen::VectorXd& diagonal, const Eigen::VectorXd& beside);

/// q·r of a matrix with no more columns than rows: q has orthonormal columns, r is upper triangular.
struct OrthogonalTriangular {
    Eigen::MatrixXd q;
    Eigen::MatrixXd r;
};
[[nodiscard]] OrthogonalTriangular orthogonalTriangular(const Eigen::MatrixXd& matrix);

} // namespace residua::engine
