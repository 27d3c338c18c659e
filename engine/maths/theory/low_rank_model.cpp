// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/theory/low_rank_model.h"

#include "projects/base/text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace residua::engine::theory {

namespace {

using std::numbers::pi;

/// Returns the gate's share: it reduces the risk by ν²·gateShare (B.9).
double gateShare(std::int64_t d, Statement statement)
{
    return 1 / (pi * (double(d) + (statement == Statement::Proved ? 2 : 1)));
}

double squared(double x)
{
    return x * x;
}

Status checkSquare(const DenseMatrix& a)
{
    if (a.rows() < 1 || a.rows() != a.cols()) {
        return Error{"target A", "got [" + std::to_string(a.rows()) + ", " + std::to_string(a.cols()) +
                                     "], expected a square matrix"};
    }
    if (!a.allFinite()) {
        return Error{"target A", "got a value that is not finite, expected finite numbers"};
    }
    return Done{};
}

Status checkTask(double kappa, std::int64_t d)
{
    if (d < 2) {
        return Error{"dimension d", "got " + std::to_string(d) + ", expected 2 or more"};
    }
    if (!(kappa >= 0 && kappa <= 1)) {
        return Error{"complexity κ", "got " + numberText(kappa, 6) + ", expected a number from 0 to 1"};
    }
    return Done{};
}

Status checkRank(double rank, std::int64_t d)
{
    if (!(rank >= 1 && rank < double(d))) {
        return Error{"collective rank r*",
                     "got " + numberText(rank, 6) + ", expected at least 1 and below d = " + std::to_string(d)};
    }
    return Done{};
}

/// Returns the energy of all singular values except the `from` largest.
double tailEnergy(const Eigen::VectorXd& singularValues, std::int64_t from)
{
    return singularValues.tail(singularValues.size() - from).squaredNorm();
}

DenseMatrix symmetricPart(const DenseMatrix& a)
{
    return (a + a.transpose()) / 2;
}

/// Returns the eigenvalues of the symmetric part of a, in ascending order.
Eigen::VectorXd symmetricEigenvalues(const DenseMatrix& a)
{
    return eigensystem(symmetricPart(a)).values;
}

/// Returns η² of Theorem 4.3. The proof's step from (C.9) to η assumes κ(1 + ξ₀) ≥ ξ₀. Otherwise the minimum of the
/// quadratic over all ratios ≥ κ is at its vertex, where the square is 0.
double etaSquared(double kappa, std::int64_t d, Statement statement)
{
    const double xi = gateShare(d, statement) / double(d - 1);
    double root = kappa - xi * (1 - kappa);
    if (statement == Statement::Proved) {
        root = std::max(root, 0.0);
    }
    return (squared(root) + xi) / (1 + xi);
}

/// Returns the most collective rank that a GRN of the ResNet's size can lose by Lemma C.1.
PerGrn lostRank(std::int64_t d, double rank)
{
    const double root = std::sqrt(double(d));
    return {squared(std::sqrt(double(d) + rank) - root), squared(std::sqrt(1 + rank) - 1),
            squared(std::sqrt(1.6 + rank) - 1)};
}

} // namespace

Result<ExcessRisk> excessRisk(const DenseMatrix& a, std::int64_t collectiveRank, Statement statement)
{
    RESIDUA_TRY(checkSquare(a));
    const std::int64_t d = a.rows();
    if (collectiveRank < 0 || collectiveRank >= d) {
        return Error{"collective rank r*",
                     "got " + std::to_string(collectiveRank) + ", expected 0 to d − 1 = " + std::to_string(d - 1)};
    }
    DenseMatrix delta = a;
    delta -= DenseMatrix::Identity(d, d);
    const Decomposition parts = decomposed(delta);
    const auto u = parts.u.leftCols(collectiveRank);
    // The projector onto the orthogonal complement of the r* leading left singular vectors: U⊥U⊥^T.
    const DenseMatrix rest = DenseMatrix::Identity(d, d) - u * u.transpose();
    delta = rest * delta;
    const double diagonalEnergy = delta.diagonal().squaredNorm();
    DenseMatrix offDiagonal = delta;
    offDiagonal.diagonal().setZero();
    const double scale = delta.trace() / double(d - collectiveRank);
    const double scaleEnergy = scale * delta.trace();
    const DenseMatrix offScale = delta - scale * rest;
    const double gate = gateShare(d, statement);
    // Both matrices have trace 0, so their largest eigenvalues are not negative.
    const double first = scaleEnergy + gate * squared(symmetricEigenvalues(offScale).maxCoeff());
    const double second = diagonalEnergy + gate * squared(symmetricEigenvalues(offDiagonal).maxCoeff());

    const double plain = tailEnergy(parts.values, collectiveRank);
    // Clamps differences of nearly equal sums, because a risk is never negative.
    const auto without = [&](double gain) { return std::max(0.0, plain - gain); };
    return ExcessRisk{plain, without(scaleEnergy), without(std::max(scaleEnergy, diagonalEnergy)),
                      without(std::max(first, second))};
}

Result<double> excessRiskWithoutShortcuts(const DenseMatrix& a, std::int64_t smallestRank)
{
    RESIDUA_TRY(checkSquare(a));
    if (smallestRank < 0 || smallestRank > a.rows()) {
        return Error{"smallest rank",
                     "got " + std::to_string(smallestRank) + ", expected 0 to d = " + std::to_string(a.rows())};
    }
    return tailEnergy(decomposed(a).values, smallestRank);
}

Result<TargetSpectrum> targetSpectrum(const DenseMatrix& a)
{
    RESIDUA_TRY(checkSquare(a));
    if (const double asymmetry = (a - symmetricPart(a)).norm(); asymmetry > 1e-12 * a.norm()) {
        return Error{"target A",
                     "its skew part has norm " + numberText(asymmetry, 6) + ", expected a symmetric matrix"};
    }
    const Eigen::VectorXd eigenvalues = symmetricEigenvalues(a);
    const TargetSpectrum spectrum{eigenvalues.minCoeff() - 1, eigenvalues.maxCoeff() - 1};
    if (spectrum.lambdaMin <= 0) {
        return Error{"target A", "the smallest eigenvalue of A − I is " + numberText(spectrum.lambdaMin, 6) +
                                     ", expected A − I positive definite"};
    }
    return spectrum;
}

Result<PerGrn> rankThresholds(double kappa, std::int64_t d, Statement statement)
{
    RESIDUA_TRY(checkTask(kappa, d));
    const double eta = std::sqrt(etaSquared(kappa, d, statement));
    // The larger root of the quadratic in √(r* + c) to which (C.2), (C.6) and (C.10) reduce under Lemma C.1.
    const auto root = [](double x, double size) { return 1 + x * (std::sqrt(x * x + size) - x); };
    const double n = double(d);
    return PerGrn{n * (squared(root(kappa, 1)) - 1), squared(root(kappa, n)) - 1, squared(root(eta, n)) - 1.6};
}

Result<PerGrn> gainBounds(const TargetSpectrum& target, std::int64_t d, double collectiveRank, Statement statement)
{
    if (!(target.lambdaMin > 0 && target.lambdaMin <= target.lambdaMax && std::isfinite(target.lambdaMax))) {
        return Error{"eigenvalues of A − I", "got λ_min = " + numberText(target.lambdaMin, 6) + ", λ_max = " +
                                                 numberText(target.lambdaMax, 6) + ", expected 0 < λ_min ≤ λ_max"};
    }
    RESIDUA_TRY(checkTask(target.kappa(), d));
    RESIDUA_TRY(checkRank(collectiveRank, d));
    const double least = squared(target.lambdaMin);
    const double most = squared(target.lambdaMax);
    const PerGrn lost = lostRank(d, collectiveRank);
    const double kept = (double(d) - collectiveRank) * least;
    const double gate = gateShare(d, statement) * (most / 2 - least);
    return PerGrn{kept - lost.v1 * (most - least), kept - lost.v2 * (most - least),
                  kept + gate - lost.v3 * (most - least)};
}

Result<PerGrn> equivalentRanks(double kappa, std::int64_t d, double collectiveRank, Statement statement)
{
    RESIDUA_TRY(checkTask(kappa, d));
    RESIDUA_TRY(checkRank(collectiveRank, d));
    const auto reduced = [&](double share) { return (collectiveRank - double(d) * share) / (1 - share); };
    const double linear = reduced(squared(kappa));
    return PerGrn{linear, linear, reduced(etaSquared(kappa, d, statement))};
}

Result<std::int64_t> modelSize(DepthModel model, std::int64_t d, std::int64_t layers, std::int64_t collectiveRank)
{
    if (d < 1 || layers < 1 || collectiveRank < layers) {
        return Error{"model size", "got d = " + std::to_string(d) + ", T = " + std::to_string(layers) +
                                       ", r* = " + std::to_string(collectiveRank) + ", expected d, T ≥ 1 and r* ≥ T"};
    }
    constexpr double kLargest = double(std::numeric_limits<std::int64_t>::max()) / 8;
    if (2 * double(d) * double(collectiveRank) + double(d) * squared(double(layers)) > kLargest) {
        return Error{"model size", "the count passes 64 bits, expected a smaller d, T or r*"};
    }
    const std::int64_t weights = 2 * d * collectiveRank;
    const std::int64_t pairs = layers * (layers - 1) / 2;
    switch (model) {
    case DepthModel::ResNet:
        return weights;
    case DepthModel::GrnV1:
        return weights + pairs;
    case DepthModel::GrnV2:
        return weights + d * pairs;
    case DepthModel::GrnV3:
        return weights + d * pairs + d * layers;
    }
    return Error{"model size", "unknown model"};
}

} // namespace residua::engine::theory
