// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/theory/linear_algebra.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace residua::engine::theory {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Jacobi converges quadratically: some ten sweeps for hundreds of rows.
constexpr int kMostSweeps = 60;

struct Rotation {
    double c = 1;
    double s = 0;
};

/// Diagonalises [[p, r], [r, q]]: the rotation by the smaller angle, which is what makes Jacobi converge.
Rotation diagonalising(double p, double q, double r)
{
    const double zeta = (q - p) / (2 * r);
    const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
    const double c = 1 / std::hypot(1.0, t);
    return {c, c * t};
}

void rotateRows(DenseMatrix& a, std::int64_t p, std::int64_t q, Rotation by)
{
    for (std::int64_t k = 0; k < a.columns; ++k) {
        const double x = a.at(p, k);
        const double y = a.at(q, k);
        a.at(p, k) = by.c * x - by.s * y;
        a.at(q, k) = by.s * x + by.c * y;
    }
}

void rotateColumns(DenseMatrix& a, std::int64_t p, std::int64_t q, Rotation by)
{
    for (std::int64_t k = 0; k < a.rows; ++k) {
        const double x = a.at(k, p);
        const double y = a.at(k, q);
        a.at(k, p) = by.c * x - by.s * y;
        a.at(k, q) = by.s * x + by.c * y;
    }
}

double rowProduct(const DenseMatrix& a, std::int64_t p, std::int64_t q)
{
    const auto row = [&](std::int64_t i) { return a.values.begin() + i * a.columns; };
    return std::inner_product(row(p), row(p) + a.columns, row(q), 0.0);
}

/// Makes the rows orthogonal, and turns `also` along; whether any pair still had to be turned.
bool orthogonalisingSweep(DenseMatrix& rows, DenseMatrix& also)
{
    // What rounding alone leaves of a product of so many terms.
    const double negligible = kEpsilon * double(rows.columns);
    bool turned = false;
    for (std::int64_t p = 0; p + 1 < rows.rows; ++p) {
        for (std::int64_t q = p + 1; q < rows.rows; ++q) {
            const double pp = rowProduct(rows, p, p);
            const double qq = rowProduct(rows, q, q);
            const double pq = rowProduct(rows, p, q);
            if (std::abs(pq) <= negligible * std::sqrt(pp) * std::sqrt(qq)) {
                continue;
            }
            const Rotation by = diagonalising(pp, qq, pq);
            rotateRows(rows, p, q, by);
            rotateRows(also, p, q, by);
            turned = true;
        }
    }
    return turned;
}

} // namespace

DenseMatrix DenseMatrix::zeros(std::int64_t rows, std::int64_t columns)
{
    return {rows, columns, std::vector<double>(std::size_t(rows * columns), 0.0)};
}

DenseMatrix DenseMatrix::identity(std::int64_t size)
{
    DenseMatrix one = zeros(size, size);
    for (std::int64_t i = 0; i < size; ++i) {
        one.at(i, i) = 1;
    }
    return one;
}

DenseMatrix transposed(const DenseMatrix& a)
{
    DenseMatrix result = DenseMatrix::zeros(a.columns, a.rows);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < a.columns; ++j) {
            result.at(j, i) = a.at(i, j);
        }
    }
    return result;
}

DenseMatrix product(const DenseMatrix& a, const DenseMatrix& b)
{
    DenseMatrix result = DenseMatrix::zeros(a.rows, b.columns);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t k = 0; k < a.columns; ++k) {
            const double factor = a.at(i, k);
            for (std::int64_t j = 0; j < b.columns; ++j) {
                result.at(i, j) += factor * b.at(k, j);
            }
        }
    }
    return result;
}

DenseMatrix productWithFirstTransposed(const DenseMatrix& a, const DenseMatrix& b)
{
    return product(transposed(a), b);
}

DenseMatrix productWithSecondTransposed(const DenseMatrix& a, const DenseMatrix& b)
{
    return product(a, transposed(b));
}

void addScaled(DenseMatrix& target, const DenseMatrix& a, double scale)
{
    for (std::size_t k = 0; k < a.values.size(); ++k) {
        target.values[k] += scale * a.values[k];
    }
}

double innerProduct(const DenseMatrix& a, const DenseMatrix& b)
{
    return std::inner_product(a.values.begin(), a.values.end(), b.values.begin(), 0.0);
}

double frobeniusNorm(const DenseMatrix& a)
{
    return std::sqrt(innerProduct(a, a));
}

double trace(const DenseMatrix& a)
{
    double sum = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        sum += a.at(i, i);
    }
    return sum;
}

DenseMatrix symmetricPart(const DenseMatrix& a)
{
    DenseMatrix half = transposed(a);
    addScaled(half, a, 1);
    for (double& value : half.values) {
        value /= 2;
    }
    return half;
}

bool isFinite(const DenseMatrix& a)
{
    return std::ranges::all_of(a.values, [](double value) { return std::isfinite(value); });
}

std::vector<double> symmetricEigenvalues(const DenseMatrix& a)
{
    DenseMatrix s = symmetricPart(a);
    const double negligible = kEpsilon * frobeniusNorm(s) / double(std::max<std::int64_t>(s.rows, 1));
    bool turned = true;
    for (int sweep = 0; turned && sweep < kMostSweeps; ++sweep) {
        turned = false;
        for (std::int64_t p = 0; p + 1 < s.rows; ++p) {
            for (std::int64_t q = p + 1; q < s.rows; ++q) {
                if (std::abs(s.at(p, q)) <= negligible) {
                    continue;
                }
                const Rotation by = diagonalising(s.at(p, p), s.at(q, q), s.at(p, q));
                rotateRows(s, p, q, by);
                rotateColumns(s, p, q, by);
                s.at(p, q) = s.at(q, p) = 0;
                turned = true;
            }
        }
    }
    std::vector<double> values;
    for (std::int64_t i = 0; i < s.rows; ++i) {
        values.push_back(s.at(i, i));
    }
    std::ranges::sort(values, std::greater<>());
    return values;
}

Svd singularValues(const DenseMatrix& a)
{
    const std::int64_t d = a.rows;
    // Rows of `scaled` are the columns of a, then of u·diag(sigma): rows lie together in memory.
    DenseMatrix scaled = transposed(a);
    DenseMatrix right = DenseMatrix::identity(d);
    for (int sweep = 0; sweep < kMostSweeps && orthogonalisingSweep(scaled, right); ++sweep) {
    }

    std::vector<double> lengths;
    for (std::int64_t k = 0; k < d; ++k) {
        lengths.push_back(std::sqrt(rowProduct(scaled, k, k)));
    }
    std::vector<std::int64_t> order(std::size_t(d), 0);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater<>(), [&](std::int64_t k) { return lengths[std::size_t(k)]; });

    Svd svd{DenseMatrix::zeros(d, d), {}, DenseMatrix::zeros(d, d)};
    const double zero = d == 0 ? 0 : double(d) * kEpsilon * lengths[std::size_t(order.front())];
    for (std::int64_t j = 0; j < d; ++j) {
        const std::int64_t from = order[std::size_t(j)];
        const double sigma = lengths[std::size_t(from)];
        svd.sigma.push_back(sigma > zero ? sigma : 0);
        for (std::int64_t i = 0; i < d; ++i) {
            svd.u.at(i, j) = sigma > zero ? scaled.at(from, i) / sigma : 0;
            svd.v.at(i, j) = right.at(from, i);
        }
    }
    return svd;
}

} // namespace residua::engine::theory
