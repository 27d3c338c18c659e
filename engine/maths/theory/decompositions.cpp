// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/theory/dense_matrix.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace residua::engine {

using Eigen::MatrixXd;

Decomposition decomposed(const MatrixXd& matrix)
{
    const Eigen::BDCSVD<MatrixXd> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
    return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

Eigensystem eigensystem(const MatrixXd& symmetric)
{
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(symmetric);
    return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXd tridiagonalEigenvalues(const Eigen::VectorXd& diagonal, const Eigen::VectorXd& beside)
{
    Eigen::SelfAdjointEigenSolver<MatrixXd> solver;
    solver.computeFromTridiagonal(diagonal, beside, Eigen::EigenvaluesOnly);
    return solver.eigenvalues();
}

OrthogonalTriangular orthogonalTriangular(const MatrixXd& matrix)
{
    const Eigen::HouseholderQR<MatrixXd> qr(matrix);
    const Eigen::Index columns = matrix.cols();
    return {qr.householderQ() * MatrixXd::Identity(matrix.rows(), columns),
            qr.matrixQR().topRows(columns).triangularView<Eigen::Upper>()};
}

} // namespace residua::engine
