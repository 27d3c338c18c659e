// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/regression.h"

#include "engine/data/random.h"
#include "engine/data/vector_dataset.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace residua::engine {
namespace {

using projects::LinearTarget;

template <class Matrix>
auto rowOf(Matrix& matrix, std::int64_t row)
{
    const auto columns = static_cast<std::size_t>(matrix.columns);
    return std::span(matrix.values).subspan(static_cast<std::size_t>(row) * columns, columns);
}

double dot(std::span<const double> a, std::span<const double> b)
{
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// a += factor · b
void addScaled(std::span<double> a, double factor, std::span<const double> b)
{
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] += factor * b[i];
    }
}

DenseMatrix gaussian(std::int64_t rows, std::int64_t columns, double deviation, RandomStream random)
{
    DenseMatrix matrix{rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
    std::generate(matrix.values.begin(), matrix.values.end(), [&] { return deviation * random.gaussian(); });
    return matrix;
}

/// rows ≤ columns random orthonormal rows.
DenseMatrix orthonormalRows(std::int64_t rows, std::int64_t columns, RandomStream random)
{
    DenseMatrix matrix = gaussian(rows, columns, 1.0, random);
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::span<double> row = rowOf(matrix, i);
        // Gram and Schmidt's rounding errors vanish when it is done twice.
        for (int pass = 0; pass < 2; ++pass) {
            for (std::int64_t j = 0; j < i; ++j) {
                const std::span<double> other = rowOf(matrix, j);
                addScaled(row, -dot(row, other), other);
            }
        }
        const double scale = 1.0 / std::sqrt(dot(row, row));
        std::transform(row.begin(), row.end(), row.begin(), [scale](double value) { return scale * value; });
    }
    return matrix;
}

DenseMatrix transposed(const DenseMatrix& matrix)
{
    DenseMatrix result{matrix.columns, matrix.rows, std::vector<double>(matrix.values.size())};
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        for (std::int64_t column = 0; column < matrix.columns; ++column) {
            result.at(column, row) = matrix.at(row, column);
        }
    }
    return result;
}

/// a bᵀ; both have their vectors in rows.
DenseMatrix timesTransposed(const DenseMatrix& a, const DenseMatrix& b)
{
    DenseMatrix result{a.rows, b.rows, std::vector<double>(static_cast<std::size_t>(a.rows * b.rows))};
    for (std::int64_t row = 0; row < a.rows; ++row) {
        for (std::int64_t column = 0; column < b.rows; ++column) {
            result.at(row, column) = dot(rowOf(a, row), rowOf(b, column));
        }
    }
    return result;
}

/// kRotationScale times a product of an even number of random reflections, whose determinant is +1.
DenseMatrix scaledRotation(std::int64_t dim, RandomStream random)
{
    DenseMatrix matrix{dim, dim, std::vector<double>(static_cast<std::size_t>(dim * dim))};
    for (std::int64_t i = 0; i < dim; ++i) {
        matrix.at(i, i) = kRotationScale;
    }
    std::vector<double> axis(static_cast<std::size_t>(dim));
    for (std::int64_t reflection = 0; reflection < dim + dim % 2; ++reflection) {
        std::generate(axis.begin(), axis.end(), [&] { return random.gaussian(); });
        const double factor = -2.0 / dot(axis, axis);
        for (std::int64_t row = 0; row < dim; ++row) {
            const std::span<double> values = rowOf(matrix, row);
            addScaled(values, factor * dot(values, axis), axis);
        }
    }
    return matrix;
}

Status checkSizes(std::int64_t dim, std::int64_t samples)
{
    if (dim < 1 || samples < 1) {
        return Error{"data", std::to_string(samples) + " samples of " + std::to_string(dim) +
                                 " features: expected at least one of each"};
    }
    return Done{};
}

Status checkRank(const projects::LowRankRegression& source)
{
    if (source.rank < 1 || source.rank > source.dim) {
        return Error{"data", "rank " + std::to_string(source.rank) + " is not in 1.." + std::to_string(source.dim)};
    }
    return checkSizes(source.dim, source.samples);
}

std::int64_t heldOut(std::int64_t samples, double fraction)
{
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(samples) * fraction));
}

DataOutline outlineOf(std::int64_t dim, std::int64_t samples, const projects::DataSource& data)
{
    return {ExampleSchema::vectors(dim, dim),
            {samples, heldOut(samples, data.validationFraction), heldOut(samples, data.testFraction)}};
}

RandomStream inputStream(std::int64_t seed, Split split)
{
    return {static_cast<std::uint64_t>(seed), streamOf(Stream::Inputs, static_cast<std::uint64_t>(split))};
}

/// Gaussian inputs of the held-out splits; their outputs are still to come.
std::array<DenseMatrix, kSplits> heldOutInputs(std::int64_t dim, std::int64_t samples, double deviation,
                                               const projects::DataSource& data, std::int64_t seed)
{
    std::array<DenseMatrix, kSplits> inputs;
    for (const auto& [split, fraction] :
         {std::pair{Split::Validation, data.validationFraction}, std::pair{Split::Test, data.testFraction}}) {
        inputs[static_cast<std::size_t>(split)] =
            gaussian(heldOut(samples, fraction), dim, deviation, inputStream(seed, split));
    }
    return inputs;
}

} // namespace

DenseMatrix linearTarget(LinearTarget target, std::int64_t dim, std::int64_t seed)
{
    const RandomStream random(static_cast<std::uint64_t>(seed), streamOf(Stream::Target));
    switch (target) {
    case LinearTarget::Random:
        return gaussian(dim, dim, 1.0 / std::sqrt(static_cast<double>(dim)), random);
    case LinearTarget::ScaledRotation:
        return scaledRotation(dim, random);
    case LinearTarget::Identity:
    case LinearTarget::Diagonal:
        break;
    }
    const double fall =
        target == LinearTarget::Diagonal ? 1.0 / static_cast<double>(std::max<std::int64_t>(dim - 1, 1)) : 0.0;
    DenseMatrix diagonal{dim, dim, std::vector<double>(static_cast<std::size_t>(dim * dim))};
    for (std::int64_t i = 0; i < dim; ++i) {
        diagonal.at(i, i) = i + 1 == dim && fall > 0 ? 0.0 : 1.0 - fall * static_cast<double>(i);
    }
    return diagonal;
}

Result<DataOutline> outlineOf(const projects::LinearRegression& source, const projects::DataSource& data)
{
    const Status status = checkSizes(source.dim, source.samples);
    return status ? Result<DataOutline>(outlineOf(source.dim, source.samples, data)) : status.error();
}

Result<DataOutline> outlineOf(const projects::LowRankRegression& source, const projects::DataSource& data)
{
    const Status status = checkRank(source);
    return status ? Result<DataOutline>(outlineOf(source.dim, source.samples, data)) : status.error();
}

Result<std::unique_ptr<Dataset>> makeLinearRegression(const projects::LinearRegression& source,
                                                      const projects::DataSource& data, std::int64_t seed)
{
    if (auto status = checkSizes(source.dim, source.samples); !status) {
        return status.error();
    }
    const double deviation = 1.0 / std::sqrt(static_cast<double>(std::max(source.dim, source.samples)));
    auto inputs = heldOutInputs(source.dim, source.samples, deviation, data, seed);
    const RandomStream random = inputStream(seed, Split::Train);
    inputs[0] = source.samples >= source.dim ? transposed(orthonormalRows(source.dim, source.samples, random))
                                             : orthonormalRows(source.samples, source.dim, random);
    const DenseMatrix target = linearTarget(source.target, source.dim, seed);
    std::array<VectorTable, kSplits> tables;
    for (std::size_t split = 0; split < tables.size(); ++split) {
        const DenseMatrix& x = inputs[split];
        tables[split] = {x.rows, x.values, timesTransposed(x, target).values};
    }
    return std::unique_ptr<Dataset>(std::make_unique<VectorDataset>(source.dim, source.dim, std::move(tables)));
}

DenseMatrix lowRankTarget(const projects::LowRankRegression& source, std::int64_t seed)
{
    const DenseMatrix target = linearTarget(source.target, source.dim, seed);
    if (source.rank >= source.dim) {
        return target;
    }
    const RandomStream random(static_cast<std::uint64_t>(seed), streamOf(Stream::Subspace));
    const DenseMatrix basis = orthonormalRows(source.rank, source.dim, random); // [rank, dim]
    return timesTransposed(timesTransposed(target, basis), transposed(basis));  // (T Bᵀ) B
}

Result<std::unique_ptr<Dataset>> makeLowRankRegression(const projects::LowRankRegression& source,
                                                       const projects::DataSource& data, std::int64_t seed)
{
    if (auto status = checkRank(source); !status) {
        return status.error();
    }
    auto inputs = heldOutInputs(source.dim, source.samples, 1.0, data, seed);
    inputs[0] = gaussian(source.samples, source.dim, 1.0, inputStream(seed, Split::Train));
    const DenseMatrix target = lowRankTarget(source, seed);
    std::array<VectorTable, kSplits> tables;
    for (std::size_t split = 0; split < tables.size(); ++split) {
        const DenseMatrix& x = inputs[split];
        tables[split] = {x.rows, x.values, timesTransposed(x, target).values};
        RandomStream noise(static_cast<std::uint64_t>(seed), streamOf(Stream::Noise, split));
        for (double& value : tables[split].outputs) {
            value += source.noise * noise.gaussian();
        }
    }
    return std::unique_ptr<Dataset>(std::make_unique<VectorDataset>(source.dim, source.dim, std::move(tables)));
}

} // namespace residua::engine
