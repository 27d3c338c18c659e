// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/gaussian_error.h"

#include "engine/maths/theory/dense_matrix.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace residua::engine::lowrank {
namespace {

using Eigen::ArrayXXd;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using std::numbers::pi;

/// The error of one row and the two factors of its gradient.
struct RowTerms {
    double error = 0;
    double byOwn = 0;
    double byFull = 0;
};

/// Returns 0 for a negative value caused by rounding. Keeps NaN, so that divergence of the factors is detected.
double notNegative(double value)
{
    return value < 0 ? 0 : value;
}

/// Returns c clamped to the range of a covariance.
double boundedShared(double own, double full, double shared)
{
    const double most = std::sqrt(own * full);
    return std::clamp(shared, -most, most);
}

RowTerms reluTerms(double own, double full, double shared)
{
    if (full <= 0) {
        return {own / 2, 1, 0};
    }
    if (own <= 0) { // the gradient by the row's norm is unbounded here; uses its finite part
        return {full / 2, 1, -0.5};
    }
    const double product = std::sqrt(own * full);
    const double rho = std::clamp(shared / product, -1.0, 1.0);
    const double angle = pi - std::acos(rho);
    const double sine = std::sqrt((1 - rho) * (1 + rho));
    const double cross = product * (sine + angle * rho) / (2 * pi);
    return {notNegative(own / 2 + full / 2 - 2 * cross), 1 - std::sqrt(full / own) * sine / pi, -angle / pi};
}

/// E[gelu(u)·gelu(v)] and its derivatives by s and by c.
struct GeluProduct {
    double value = 0;
    double byOwn = 0;
    double byShared = 0;
};

GeluProduct geluProduct(double own, double full, double shared)
{
    const double s1 = 1 + own;
    const double w1 = 1 + full;
    const double determinant = std::max(s1 * w1 - shared * shared, 1.0); // at least 1 + s + w
    const double density = 1 / (2 * pi * std::sqrt(determinant));
    const double both = 0.25 + std::asin(std::clamp(shared / std::sqrt(s1 * w1), -1.0, 1.0)) / (2 * pi);
    const double square = shared * shared;
    const double numerator = own * full - square + square / s1 + square / w1;
    GeluProduct product;
    product.value = shared * both + numerator * density;
    product.byShared = both + shared * density + 2 * shared * (1 / s1 + 1 / w1 - 1) * density +
                       numerator * density * shared / determinant;
    product.byOwn = -square / (2 * s1) * density + (full - square / (s1 * s1)) * density -
                    numerator * density * w1 / (2 * determinant);
    return product;
}

RowTerms geluTerms(double own, double full, double shared)
{
    const GeluProduct ownSquare = geluProduct(own, own, own);
    const double fullSquare = geluProduct(full, full, full).value;
    const GeluProduct cross = geluProduct(own, full, boundedShared(own, full, shared));
    const double squareByOwn = 2 * ownSquare.byOwn + ownSquare.byShared;
    return {notNegative(ownSquare.value + fullSquare - 2 * cross.value), 2 * (squareByOwn - 2 * cross.byOwn),
            -2 * cross.byShared};
}

double silu(double x)
{
    return x / (1 + std::exp(-x));
}

/// silu(x) = x/2 + g(x) with g even, so only the Hermite coefficients of even degree are computed: the first odd one is
/// √s/2, and the others are 0.
constexpr int kEvenDegrees = GaussianError::kDegrees / 2;

/// The positive nodes of the Gauss-Hermite rule for N(0, 1), and weight·H_l(node) of the normalised polynomials of even
/// degree, summed over a node and its negative.
struct HermiteRule {
    VectorXd nodes;
    MatrixXd weighted; ///< [nodes, even degrees]
};

HermiteRule makeHermiteRule()
{
    constexpr int n = GaussianError::kNodes;
    // The nodes are the eigenvalues of the recurrence's tridiagonal matrix (Golub and Welsch). Their weights span a
    // hundred orders of magnitude, which eigenvectors cannot represent; 1/Σ_{l<n} H_l(node)² can.
    VectorXd beside(n - 1);
    for (int i = 1; i < n; ++i) {
        beside[i - 1] = std::sqrt(double(i));
    }
    HermiteRule rule;
    rule.nodes = tridiagonalEigenvalues(VectorXd::Zero(n), beside).tail(n / 2);
    MatrixXd polynomials(n / 2, n);
    polynomials.col(0).setOnes();
    polynomials.col(1) = rule.nodes;
    for (int l = 2; l < n; ++l) {
        polynomials.col(l) =
            (rule.nodes.cwiseProduct(polynomials.col(l - 1)) - std::sqrt(double(l - 1)) * polynomials.col(l - 2)) /
            std::sqrt(double(l));
    }
    const VectorXd weights = polynomials.rowwise().squaredNorm().cwiseInverse();
    rule.weighted = MatrixXd(n / 2, kEvenDegrees);
    for (int l = 0; l < kEvenDegrees; ++l) {
        rule.weighted.col(l) = 2 * weights.cwiseProduct(polynomials.col(2 * l));
    }
    return rule;
}

const HermiteRule& hermiteRule()
{
    static const HermiteRule rule = makeHermiteRule();
    return rule;
}

/// Returns a_l of even degree for each row, [even degrees, rows]; with `slopes`, also their derivatives by the standard
/// deviation.
MatrixXd siluHermite(const VectorXd& deviations, MatrixXd* slopes = nullptr)
{
    const HermiteRule& rule = hermiteRule();
    const ArrayXXd at = (rule.nodes * deviations.transpose()).array();
    const ArrayXXd sigmoid = (1 + (-at).exp()).inverse();
    if (slopes) {
        const ArrayXXd slope = sigmoid - 0.5 + at * sigmoid * (1 - sigmoid);
        slopes->noalias() = rule.weighted.transpose() * (slope.colwise() * rule.nodes.array()).matrix();
    }
    return rule.weighted.transpose() * (at * (sigmoid - 0.5)).matrix();
}

RowTerms siluTerms(const Eigen::Ref<const VectorXd>& a, const Eigen::Ref<const VectorXd>& slope,
                   const Eigen::Ref<const VectorXd>& b, double own, double full, double shared)
{
    RowTerms terms;
    const double product = std::sqrt(own * full);
    const double rho = product > 0 ? std::clamp(shared / product, -1.0, 1.0) : 0;
    double power = 1;  // ρ^l
    double before = 0; // ρ^(l − 1)
    double byDeviation = 0;
    double byRho = 0;
    for (int k = 0; k < kEvenDegrees; ++k) {
        terms.error += a[k] * a[k] + b[k] * b[k] - 2 * a[k] * b[k] * power;
        byDeviation += 2 * slope[k] * (a[k] - b[k] * power);
        byRho -= 4 * k * a[k] * b[k] * before;
        before = power * rho;
        power = before * rho;
    }
    // Degree 1: a linear map by ½.
    terms.error = notNegative(terms.error + (own + full - 2 * rho * product) / 4);
    terms.byOwn = 0.5;
    terms.byFull = -0.5;
    constexpr double kTiny = 1e-18;
    if (own > kTiny) { // for a row of zeros, only degree 1 has a derivative
        terms.byOwn += byDeviation / std::sqrt(own) - (full > 0 ? byRho * rho / own : 0);
        terms.byFull += full > 0 ? byRho / product : 0;
    }
    return terms;
}

} // namespace

GaussianError::GaussianError(Nonlinearity follows, VectorXd full) : m_follows(follows), m_full(std::move(full))
{
    if (m_follows == Nonlinearity::Silu) {
        m_fullHermite = siluHermite(m_full.cwiseSqrt());
    }
}

GaussianError::Rows GaussianError::operator()(const VectorXd& own, const VectorXd& shared) const
{
    const Eigen::Index count = m_full.size();
    Rows rows{VectorXd(count), VectorXd(count), VectorXd(count)};
    MatrixXd slopes;
    const MatrixXd hermite =
        m_follows == Nonlinearity::Silu ? siluHermite(own.unaryExpr(&notNegative).cwiseSqrt(), &slopes) : MatrixXd();
    for (Eigen::Index i = 0; i < count; ++i) {
        const double s = notNegative(own[i]);
        const double w = m_full[i];
        RowTerms terms;
        switch (m_follows) {
        case Nonlinearity::Identity:
            terms = {notNegative(s + w - 2 * shared[i]), 2, -2};
            break;
        case Nonlinearity::Relu:
            terms = reluTerms(s, w, shared[i]);
            break;
        case Nonlinearity::Gelu:
            terms = geluTerms(s, w, shared[i]);
            break;
        case Nonlinearity::Silu:
            terms = siluTerms(hermite.col(i), slopes.col(i), m_fullHermite.col(i), s, w, shared[i]);
            break;
        }
        rows.error[i] = terms.error;
        rows.byOwn[i] = terms.byOwn;
        rows.byFull[i] = terms.byFull;
    }
    return rows;
}

double GaussianError::fullFunction() const
{
    switch (m_follows) {
    case Nonlinearity::Identity:
        return m_full.sum();
    case Nonlinearity::Relu:
        return m_full.sum() / 2;
    case Nonlinearity::Gelu:
        return m_full.unaryExpr([](double w) { return geluProduct(w, w, w).value; }).sum();
    case Nonlinearity::Silu:
        break;
    }
    return m_fullHermite.squaredNorm() + m_full.sum() / 4;
}

double sqrtH(double rho)
{
    const double bounded = std::clamp(rho, -1.0, 1.0);
    return (std::sqrt((1 - bounded) * (1 + bounded)) + (pi - std::acos(bounded)) * bounded) / pi;
}

void applyNonlinearity(Nonlinearity follows, MatrixXd& values)
{
    switch (follows) {
    case Nonlinearity::Identity:
        break;
    case Nonlinearity::Relu:
        values = values.cwiseMax(0);
        break;
    case Nonlinearity::Silu:
        values = values.unaryExpr(&silu);
        break;
    case Nonlinearity::Gelu:
        values = values.unaryExpr([](double x) { return x * std::erfc(-x / std::numbers::sqrt2) / 2; });
        break;
    }
}

void applyNonlinearity(Nonlinearity follows, MatrixXd& values, MatrixXd& slopes)
{
    switch (follows) {
    case Nonlinearity::Identity:
        slopes.setOnes(values.rows(), values.cols());
        break;
    case Nonlinearity::Relu:
        slopes = values.unaryExpr([](double x) { return x > 0 ? 1.0 : 0.0; });
        break;
    case Nonlinearity::Silu:
        slopes = values.unaryExpr([](double x) {
            const double sigmoid = 1 / (1 + std::exp(-x));
            return sigmoid * (1 + x * (1 - sigmoid));
        });
        break;
    case Nonlinearity::Gelu:
        slopes = values.unaryExpr([](double x) {
            return std::erfc(-x / std::numbers::sqrt2) / 2 + x * std::exp(-x * x / 2) / std::sqrt(2 * pi);
        });
        break;
    }
    applyNonlinearity(follows, values);
}

} // namespace residua::engine::lowrank
