// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/regression.h"

#include "projects/base/random.h"

#include <algorithm>
#include <cmath>

namespace residua::engine {

VectorDataset::VectorDataset(std::int64_t inputs, std::int64_t outputs, std::array<VectorTable, kSplits> tables)
    : m_inputs(inputs), m_outputs(outputs), m_tables(std::move(tables))
{
}

void VectorDataset::prepare(Batch& batch, std::int64_t count) const
{
    batch.batch = count;
    batch.time = 0;
    batch.values<double>(0).resize(static_cast<std::size_t>(count * m_inputs));
    batch.values<double>(1).resize(static_cast<std::size_t>(count * m_outputs));
}

void VectorDataset::copyRow(Batch& batch, std::int64_t to, const VectorTable& table, std::int64_t from) const
{
    std::copy_n(table.inputs.begin() + from * m_inputs, m_inputs, batch.values<double>(0).begin() + to * m_inputs);
    std::copy_n(table.outputs.begin() + from * m_outputs, m_outputs, batch.values<double>(1).begin() + to * m_outputs);
}

Status VectorDataset::fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index, std::int64_t count) const
{
    prepare(batch, count);
    const VectorTable& rows = table(split);
    for (std::int64_t row = 0; row < count; ++row) {
        copyRow(batch, row, rows, shuffledRow(index * count + row, rows.rows, split, seed));
    }
    return Done{};
}

Status VectorDataset::fillSequential(Batch& batch, Split split, std::int64_t index, std::int64_t count) const
{
    const VectorTable& rows = table(split);
    const std::int64_t first = index * count;
    prepare(batch, std::clamp<std::int64_t>(rows.rows - first, 0, count));
    for (std::int64_t row = 0; row < batch.batch; ++row) {
        copyRow(batch, row, rows, first + row);
    }
    return Done{};
}

void VectorDataset::fillAll(Batch& batch, Split split) const
{
    const VectorTable& rows = table(split);
    batch.batch = rows.rows;
    batch.time = 0;
    batch.fields = {rows.inputs, rows.outputs};
}

namespace {

using projects::LinearTarget;

DenseMatrix gaussian(std::int64_t rows, std::int64_t columns, double deviation, RandomStream random)
{
    return gaussianMatrix(rows, columns, random, deviation);
}

/// Returns random orthonormal rows; requires rows ≤ columns.
DenseMatrix orthonormalRows(std::int64_t rows, std::int64_t columns, RandomStream random)
{
    DenseMatrix matrix = gaussian(rows, columns, 1.0, random);
    for (std::int64_t i = 0; i < rows; ++i) {
        // A second pass of Gram–Schmidt removes the rounding errors of the first.
        for (int pass = 0; pass < 2; ++pass) {
            for (std::int64_t j = 0; j < i; ++j) {
                matrix.row(i) -= matrix.row(i).dot(matrix.row(j)) * matrix.row(j);
            }
        }
        matrix.row(i).normalize();
    }
    return matrix;
}

/// Returns a bᵀ with each entry summed in a fixed order. The order of a blocked product depends on the processor's
/// caches, and the data of a seed must not.
DenseMatrix timesTransposed(const DenseMatrix& a, const DenseMatrix& b)
{
    return a.lazyProduct(b.transpose());
}

/// Returns kRotationScale times a product of an even number of random reflections, whose determinant is +1.
DenseMatrix scaledRotation(std::int64_t dim, RandomStream random)
{
    DenseMatrix matrix = kRotationScale * DenseMatrix::Identity(dim, dim);
    for (std::int64_t reflection = 0; reflection < dim + dim % 2; ++reflection) {
        const DenseMatrix axis = gaussian(1, dim, 1.0, random);
        const double factor = 2.0 / axis.squaredNorm();
        matrix -= timesTransposed(timesTransposed(matrix, factor * axis), axis.transpose());
    }
    return matrix;
}

/// Returns the elements row by row.
std::vector<double> valuesOf(const DenseMatrix& matrix)
{
    return {matrix.data(), matrix.data() + matrix.size()};
}

std::int64_t heldOut(std::int64_t samples, double fraction)
{
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(samples) * fraction));
}

DataOutline outlineOf(std::int64_t dim, std::int64_t samples, const projects::DataSource& data)
{
    return {projects::ExampleSchema::vectors(dim, dim),
            {samples, heldOut(samples, data.validationFraction), heldOut(samples, data.testFraction)}};
}

RandomStream inputStream(std::int64_t seed, Split split)
{
    return {static_cast<std::uint64_t>(seed), streamOf(Stream::Inputs, static_cast<std::uint64_t>(split))};
}

/// Returns Gaussian inputs for the held-out splits, without outputs.
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
    case LinearTarget::StandardNormal:
        return gaussian(dim, dim, 1.0, random);
    case LinearTarget::ScaledRotation:
        return scaledRotation(dim, random);
    case LinearTarget::Identity:
    case LinearTarget::Diagonal:
        break;
    }
    const double fall =
        target == LinearTarget::Diagonal ? 1.0 / static_cast<double>(std::max<std::int64_t>(dim - 1, 1)) : 0.0;
    DenseMatrix diagonal = DenseMatrix::Zero(dim, dim);
    for (std::int64_t i = 0; i < dim; ++i) {
        diagonal(i, i) = i + 1 == dim && fall > 0 ? 0.0 : 1.0 - fall * static_cast<double>(i);
    }
    return diagonal;
}

DataOutline outlineOf(const projects::LinearRegression& source, const projects::DataSource& data)
{
    return outlineOf(source.dim, source.samples, data);
}

DataOutline outlineOf(const projects::LowRankRegression& source, const projects::DataSource& data)
{
    return outlineOf(source.dim, source.samples, data);
}

std::unique_ptr<Dataset> makeLinearRegression(const projects::LinearRegression& source,
                                              const projects::DataSource& data, std::int64_t seed)
{
    const double deviation = 1.0 / std::sqrt(static_cast<double>(std::max(source.dim, source.samples)));
    auto inputs = heldOutInputs(source.dim, source.samples, deviation, data, seed);
    const RandomStream random = inputStream(seed, Split::Train);
    inputs[0] = source.samples >= source.dim
                    ? DenseMatrix(orthonormalRows(source.dim, source.samples, random).transpose())
                    : orthonormalRows(source.samples, source.dim, random);
    const DenseMatrix target = linearTarget(source.target, source.dim, seed);
    std::array<VectorTable, kSplits> tables;
    for (std::size_t split = 0; split < tables.size(); ++split) {
        const DenseMatrix& x = inputs[split];
        tables[split] = {x.rows(), valuesOf(x), valuesOf(timesTransposed(x, target))};
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
    return timesTransposed(timesTransposed(target, basis), basis.transpose());  // (T Bᵀ) B
}

std::vector<double> lowRankOffset(const projects::LowRankRegression& source, std::int64_t seed)
{
    std::vector<double> offset(static_cast<std::size_t>(source.dim), 0.0);
    RandomStream random(static_cast<std::uint64_t>(seed), streamOf(Stream::Offset));
    for (double& value : offset) {
        value = source.offset ? random.gaussian() : 0.0;
    }
    return offset;
}

std::unique_ptr<Dataset> makeLowRankRegression(const projects::LowRankRegression& source,
                                               const projects::DataSource& data, std::int64_t seed)
{
    auto inputs = heldOutInputs(source.dim, source.samples, 1.0, data, seed);
    inputs[0] = gaussian(source.samples, source.dim, 1.0, inputStream(seed, Split::Train));
    const DenseMatrix target = lowRankTarget(source, seed);
    const std::vector<double> offset = lowRankOffset(source, seed);
    std::array<VectorTable, kSplits> tables;
    for (std::size_t split = 0; split < tables.size(); ++split) {
        const DenseMatrix& x = inputs[split];
        tables[split] = {x.rows(), valuesOf(x), valuesOf(timesTransposed(x, target))};
        RandomStream noise(static_cast<std::uint64_t>(seed), streamOf(Stream::Noise, split));
        for (double& value : tables[split].outputs) {
            value += source.noise * noise.gaussian();
        }
        for (std::size_t i = 0; source.offset && i < tables[split].outputs.size(); ++i) {
            tables[split].outputs[i] += offset[i % offset.size()];
        }
    }
    return std::unique_ptr<Dataset>(std::make_unique<VectorDataset>(source.dim, source.dim, std::move(tables)));
}

} // namespace residua::engine
