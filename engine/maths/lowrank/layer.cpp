// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/layer.h"

#include "projects/base/random.h"
#include "projects/base/text.h"

#include <algorithm>
#include <cmath>

namespace residua::engine::lowrank {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd matrixOf(const std::vector<double>& values, std::int64_t rows, std::int64_t columns)
{
    return Eigen::Map<const DenseMatrix>(values.data(), rows, columns);
}

Error unfit(const char* what, std::size_t got, std::int64_t rows, std::int64_t columns)
{
    return {"", std::string(what) + " has " + std::to_string(got) + " numbers, expected " + std::to_string(rows) +
                    " x " + std::to_string(columns)};
}

bool holds(const std::vector<double>& values, std::int64_t rows, std::int64_t columns)
{
    // Divides, because a product of two untrusted counts may exceed 64 bits.
    return rows > 0 && columns > 0 && values.size() % std::size_t(rows) == 0 &&
           values.size() / std::size_t(rows) == std::size_t(columns);
}

Status checkNumbers(const LowRankProblem& problem)
{
    if (!holds(problem.weight, problem.out, problem.in)) {
        return unfit("the weight", problem.weight.size(), problem.out, problem.in);
    }
    const std::int64_t most = std::min(problem.out, problem.in);
    if (problem.rank < 1 || problem.rank > most) {
        return Error{"", "rank " + std::to_string(problem.rank) + " of a weight of " + std::to_string(problem.out) +
                             " x " + std::to_string(problem.in) + ": expected 1 to " + std::to_string(most) +
                             ", the smaller side"};
    }
    if (problem.kernel < 1 || problem.out % problem.kernel != 0 || problem.in % problem.kernel != 0) {
        return Error{"", "a kernel of " + std::to_string(problem.kernel) + " for a weight of " +
                             std::to_string(problem.out) + " x " + std::to_string(problem.in) +
                             ": expected a divisor of both sides"};
    }
    const auto finite = [](double value) { return std::isfinite(value); };
    if (!std::ranges::all_of(problem.weight, finite)) {
        return Error{"", "the weight has a value that is not finite: there is nothing to approximate"};
    }
    if (!problem.covariance.empty() && !holds(problem.covariance, problem.in, problem.in)) {
        return unfit("the inputs' covariance", problem.covariance.size(), problem.in, problem.in);
    }
    if (!std::ranges::all_of(problem.covariance, finite)) {
        return Error{"", "the inputs' covariance has a value that is not finite"};
    }
    return Done{};
}

/// Computes S and its pseudo-inverse.
Status takeRoot(const LowRankProblem& problem, Layer& layer)
{
    const MatrixXd covariance = matrixOf(problem.covariance, problem.in, problem.in);
    const double scale = covariance.cwiseAbs().maxCoeff();
    const double skew = (covariance - covariance.transpose()).cwiseAbs().maxCoeff();
    if (skew > 1e-6 * scale) {
        return Error{"", "the inputs' covariance is not symmetric: two entries differ by " + numberText(skew, 3)};
    }
    const auto& [values, vectors] = eigensystem((covariance + covariance.transpose()) / 2);
    const double largest = std::max(values.maxCoeff(), 0.0);
    // Second moments of a batch in single precision can be slightly negative because of rounding.
    if (values.minCoeff() < -1e-5 * scale) {
        return Error{"", "the inputs' covariance has the negative eigenvalue " + numberText(values.minCoeff(), 3) +
                             ", expected none"};
    }
    const VectorXd roots = values.cwiseMax(0).cwiseSqrt();
    const double least = 1e-7 * std::sqrt(largest);
    const VectorXd inverse = roots.unaryExpr([least](double root) { return root > least ? 1 / root : 0.0; });
    layer.root = vectors * roots.asDiagonal() * vectors.transpose();
    layer.inverseRoot = vectors * inverse.asDiagonal() * vectors.transpose();
    return Done{};
}

/// Returns N(0, 1/inputs), redrawn beyond two standard deviations (the paper, 4.1).
MatrixXd truncatedNormal(Index rows, Index columns, Index inputs, RandomStream& draws)
{
    MatrixXd result(rows, columns);
    const double deviation = 1 / std::sqrt(double(inputs));
    for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < columns; ++j) {
            double value = draws.gaussian();
            while (std::abs(value) > 2) {
                value = draws.gaussian();
            }
            result(i, j) = deviation * value;
        }
    }
    return result;
}

} // namespace

Result<Layer> layerOf(const LowRankProblem& problem)
{
    RESIDUA_TRY(checkNumbers(problem));
    Layer layer;
    layer.weight = matrixOf(problem.weight, problem.out, problem.in);
    layer.rank = problem.rank;
    layer.kernel = problem.kernel;
    layer.follows = problem.follows;
    layer.seed = problem.seed;
    layer.seen = layer.weight;
    if (!problem.covariance.empty()) {
        RESIDUA_TRY(takeRoot(problem, layer));
        layer.seen = layer.weight * layer.root;
    }
    return layer;
}

Factors spectralFactors(const Decomposition& weight, Index rank)
{
    const VectorXd roots = weight.values.head(rank).cwiseSqrt();
    return {weight.u.leftCols(rank) * roots.asDiagonal(), roots.asDiagonal() * weight.v.leftCols(rank).transpose()};
}

Factors balanced(const Factors& factors)
{
    const OrthogonalTriangular left = orthogonalTriangular(factors.left);
    const OrthogonalTriangular right = orthogonalTriangular(factors.right.transpose());
    const Decomposition middle = decomposed(left.r * right.r.transpose());
    const VectorXd roots = middle.values.cwiseSqrt();
    return {left.q * (middle.u * roots.asDiagonal()), (right.q * (middle.v * roots.asDiagonal())).transpose()};
}

Result<Factors> drawnFactors(const LowRankProblem& problem)
{
    if (problem.drawnLeft.empty() && problem.drawnRight.empty()) {
        RandomStream draws(problem.seed, streamOf(Stream::Target));
        MatrixXd right = truncatedNormal(problem.rank, problem.in, problem.in, draws);
        return Factors{truncatedNormal(problem.out, problem.rank, problem.rank, draws), std::move(right)};
    }
    if (!holds(problem.drawnLeft, problem.out, problem.rank)) {
        return unfit("the drawn left factor", problem.drawnLeft.size(), problem.out, problem.rank);
    }
    if (!holds(problem.drawnRight, problem.rank, problem.in)) {
        return unfit("the drawn right factor", problem.drawnRight.size(), problem.rank, problem.in);
    }
    Factors drawn{matrixOf(problem.drawnLeft, problem.out, problem.rank),
                  matrixOf(problem.drawnRight, problem.rank, problem.in)};
    if (!drawn.left.allFinite() || !drawn.right.allFinite()) {
        return Error{"", "a drawn factor has a value that is not finite"};
    }
    return drawn;
}

FactorError::FactorError(const Layer& layer)
    : m_layer(layer), m_full(layer.fullSquares()), m_error(layer.follows, m_full)
{
}

FactorError::Squares FactorError::squaresOf(const Factors& factors) const
{
    MatrixXd product = factors.left * factors.right;
    if (m_layer.hasCovariance()) {
        product = factors.left * (factors.right * m_layer.root);
    }
    return {m_layer.byOutput(product.rowwise().squaredNorm()),
            m_layer.byOutput(product.cwiseProduct(m_layer.seen).rowwise().sum())};
}

double FactorError::operator()(const Factors& factors) const
{
    const Squares squares = squaresOf(factors);
    return m_error(squares.own, squares.shared).error.sum();
}

LowRankMeasures FactorError::measures(const Factors& factors) const
{
    const Squares squares = squaresOf(factors);
    LowRankMeasures measures;
    measures.functionError = m_error(squares.own, squares.shared).error.sum();
    measures.fullFunction = m_error.fullFunction();
    measures.relativeFunctionError = measures.functionError == 0 ? 0 : measures.functionError / measures.fullFunction;
    measures.weightError = (factors.left * factors.right - m_layer.weight).squaredNorm();
    double sum = 0;
    Index counted = 0;
    for (Index i = 0; i < m_full.size(); ++i) {
        if (m_full[i] > 0) {
            const double product = std::sqrt(squares.own[i] * m_full[i]);
            sum += product > 0 ? std::clamp(squares.shared[i] / product, -1.0, 1.0) : 0;
            ++counted;
        }
    }
    measures.meanCorrelation = counted > 0 ? sum / double(counted) : 1;
    return measures;
}

double FactorError::gapBound(const Factors& factors) const
{
    const Squares squares = squaresOf(factors);
    double sum = 0;
    for (Index i = 0; i < m_full.size(); ++i) {
        const double product = std::sqrt(squares.own[i] * m_full[i]);
        const double rho = product > 0 ? squares.shared[i] / product : 0;
        const double missing = std::sqrt(squares.own[i]) - std::sqrt(m_full[i]) * sqrtH(rho);
        sum += missing * missing / 2;
    }
    return sum;
}

} // namespace residua::engine::lowrank
