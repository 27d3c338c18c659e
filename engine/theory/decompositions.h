// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Eigen/Core>

/// Wrappers of Eigen's decompositions, so that each is compiled once: one takes the compiler ten to forty seconds.
namespace residua::engine {

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

} // namespace residua::engine
