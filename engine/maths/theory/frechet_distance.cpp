// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/theory/frechet_distance.h"

#include <algorithm>
#include <vector>

namespace residua::engine {
namespace {

Eigen::MatrixXd covarianceOf(const DenseMatrix& features)
{
    const Eigen::MatrixXd centred = features.rowwise() - features.colwise().mean();
    return centred.transpose() * centred / static_cast<double>(features.rows() - 1);
}

/// Returns the square root of a symmetric matrix without negative eigenvalues, up to rounding.
Eigen::MatrixXd rootOf(const Eigen::MatrixXd& symmetric)
{
    const Eigensystem system = eigensystem(symmetric);
    return system.vectors * system.values.cwiseMax(0).cwiseSqrt().asDiagonal() * system.vectors.transpose();
}

/// Returns the squared distances of the rows of `a` (rows) and of `b` (columns).
Eigen::MatrixXd squaredDistances(const DenseMatrix& a, const DenseMatrix& b)
{
    Eigen::MatrixXd squares = -2 * a * b.transpose();
    squares.colwise() += a.rowwise().squaredNorm();
    squares.rowwise() += b.rowwise().squaredNorm().transpose();
    return squares.cwiseMax(0);
}

/// Returns the squared distance of each row to its neighbour number `k`, from 1, among the others.
Eigen::VectorXd radiiOf(const DenseMatrix& features, std::int64_t k)
{
    const Eigen::MatrixXd squares = squaredDistances(features, features);
    Eigen::VectorXd radii(features.rows());
    for (Eigen::Index i = 0; i < features.rows(); ++i) {
        std::vector<double> others;
        for (Eigen::Index j = 0; j < features.rows(); ++j) {
            if (j != i) {
                others.push_back(squares(i, j));
            }
        }
        std::ranges::nth_element(others, others.begin() + (k - 1));
        radii(i) = others[static_cast<std::size_t>(k - 1)];
    }
    return radii;
}

/// Returns the share of the columns that a row reaches by its radius.
double shareWithin(const Eigen::MatrixXd& squares, const Eigen::VectorXd& radii)
{
    Eigen::Index within = 0;
    for (Eigen::Index j = 0; j < squares.cols(); ++j) {
        within += (squares.col(j).array() <= radii.array()).any() ? 1 : 0;
    }
    return static_cast<double>(within) / static_cast<double>(squares.cols());
}

} // namespace

double frechetDistance(const DenseMatrix& a, const DenseMatrix& b)
{
    const Eigen::MatrixXd ofA = covarianceOf(a);
    const Eigen::MatrixXd ofB = covarianceOf(b);
    const Eigen::MatrixXd root = rootOf(ofA);
    const Eigensystem product = eigensystem(root * ofB * root);
    const double cross = product.values.cwiseMax(0).cwiseSqrt().sum();
    const double means = (a.colwise().mean() - b.colwise().mean()).squaredNorm();
    return std::max(0.0, means + ofA.trace() + ofB.trace() - 2 * cross);
}

PrecisionRecall precisionAndRecall(const DenseMatrix& real, const DenseMatrix& made, std::int64_t neighbours)
{
    const Eigen::MatrixXd squares = squaredDistances(real, made);
    return {.precision = shareWithin(squares, radiiOf(real, neighbours)),
            .recall = shareWithin(squares.transpose(), radiiOf(made, neighbours))};
}

} // namespace residua::engine
