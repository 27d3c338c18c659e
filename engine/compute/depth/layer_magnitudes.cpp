// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/depth/layer_magnitudes.h"

#include "engine/base/api/matrix_name.h"
#include "engine/compute/runtime/host_path.h"
#include "projects/model/parameter_name.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::int64_t kRowsAtOnce = 4096;     ///< bounds the memory for a rank
constexpr std::int64_t kRowsOnGpu = 16 * 1024; ///< their products take less than a thousandth of a large step

at::ScalarType wideTypeOf(const at::Tensor& x)
{
    return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

at::Tensor lengthOf(const at::Tensor& x)
{
    return at::linalg_vector_norm(x, 2, at::OptionalIntArrayRef(), false, wideTypeOf(x));
}

at::Tensor rootMeanSquare(const at::Tensor& x)
{
    const double count = static_cast<double>(std::max<std::int64_t>(x.numel(), 1));
    return lengthOf(x).div_(std::sqrt(count)).to(at::kFloat);
}

/// Returns (Σσ²)²/Σσ⁴ from the product XᵀX, whose trace is the first sum and whose squared elements add up to the
/// second; from XXᵀ if that is smaller. On a GPU uses at most kRowsOnGpu evenly spaced rows: the rank R of n rows is
/// lower than that of all rows by about the fraction R/n.
at::Tensor effectiveRank(const at::Tensor& input)
{
    at::Tensor x = input.reshape({-1, input.size(-1)});
    if (!takesHostPath(x.device()) && x.size(0) > kRowsOnGpu) {
        x = x.slice(0, 0, std::nullopt, (x.size(0) + kRowsOnGpu - 1) / kRowsOnGpu);
    }
    const std::int64_t rows = x.size(0);
    const std::int64_t features = x.size(1);
    at::Tensor products;
    if (rows < features) {
        const at::Tensor wide = x.to(wideTypeOf(x));
        products = at::mm(wide, wide.t());
    } else {
        products = at::zeros({features, features}, x.options().dtype(wideTypeOf(x)));
        for (std::int64_t row = 0; row < rows; row += kRowsAtOnce) {
            const at::Tensor some = x.narrow(0, row, std::min(kRowsAtOnce, rows - row)).to(wideTypeOf(x));
            products.addmm_(some.t(), some);
        }
    }
    const at::Tensor trace = products.diagonal().sum();
    return (trace / lengthOf(products)).square().to(at::kFloat);
}

} // namespace

void LayerMagnitudes::clear()
{
    for (Row* const row : {&m_inputs, &m_branches, &m_inputRanks, &m_gradients}) {
        row->clear();
    }
    m_towers.clear();
}

void LayerMagnitudes::saw(std::size_t layer, std::size_t layers, const at::Tensor& input, const at::Tensor& branch)
{
    const at::NoGradGuard noGrad;
    const auto put = [&](Row& row, at::Tensor value) {
        row.resize(layers);
        row[layer] = std::move(value);
    };
    put(m_inputs, rootMeanSquare(input));
    put(m_branches, rootMeanSquare(branch));
    if (m_ranks == Ranks::Taken) {
        put(m_inputRanks, effectiveRank(input));
    }
}

void LayerMagnitudes::sawGradients(std::span<const NamedParameter> parameters, const projects::Stack& stack,
                                   std::string_view scope)
{
    const at::NoGradGuard noGrad;
    std::vector<std::vector<at::Tensor>> norms; // of each parameter, by layer
    for (const NamedParameter& parameter : parameters) {
        const std::string_view name = parameter.name;
        const std::string_view inside = name.starts_with(scope) ? name.substr(scope.size()) : std::string_view();
        const auto layer = static_cast<std::size_t>(projects::parameterNameFrom(inside).layer);
        if (layer == 0) {
            continue;
        }
        norms.resize(std::max(norms.size(), layer));
        if (const at::Tensor& gradient = parameter.tensor.grad(); gradient.defined()) {
            norms[layer - 1].push_back(lengthOf(gradient).to(at::kFloat));
        }
    }
    m_gradients.assign(norms.empty() ? 0 : static_cast<std::size_t>(stack.depth()), {});
    for (std::size_t layer = 0; layer < norms.size(); ++layer) {
        if (norms[layer].empty()) {
            continue;
        }
        const at::Tensor norm = lengthOf(at::stack(norms[layer]));
        for (const std::int64_t number : stack.visitsOf(static_cast<std::int64_t>(layer) + 1)) {
            m_gradients[static_cast<std::size_t>(number - 1)] = norm;
        }
    }
}

std::optional<Matrix> LayerMagnitudes::matrixOf(const char* name, std::int64_t step, std::span<const Row* const> rows)
{
    std::vector<at::Tensor> seen;
    std::vector<std::size_t> places; ///< their indices in the matrix
    const std::size_t columns = rows.front()->size();
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            if (const at::Tensor& value = (*rows[row])[column]; value.defined()) {
                seen.push_back(value);
                places.push_back(row * columns + column);
            }
        }
    }
    if (seen.empty()) {
        return std::nullopt;
    }
    Matrix matrix{name, step, static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns), {}};
    matrix.values.assign(rows.size() * columns, std::numeric_limits<float>::quiet_NaN());
    const at::Tensor values = at::stack(seen).cpu();
    for (std::size_t i = 0; i < places.size(); ++i) {
        matrix.values[places[i]] = values.const_data_ptr<float>()[i];
    }
    return matrix;
}

std::optional<Matrix> LayerMagnitudes::matrix(std::int64_t step) const
{
    const Row* const rows[] = {&m_inputs, &m_branches};
    return matrixOf(matrix::kLayerMagnitudes, step, rows);
}

std::vector<Matrix> LayerMagnitudes::matrices(std::int64_t step) const
{
    const Row* const ranks[] = {&m_inputRanks};
    const Row* const gradients[] = {&m_gradients};
    std::vector<Matrix> all;
    std::array seen{matrix(step), matrixOf(matrix::kReadRanks, step, ranks),
                    matrixOf(matrix::kLayerGradients, step, gradients)};
    for (std::optional<Matrix>& one : seen) {
        if (one) {
            all.push_back(*std::move(one));
        }
    }
    for (const auto& [tower, magnitudes] : m_towers) {
        for (Matrix& own : magnitudes.matrices(step)) {
            own.name.kind = tower + "." + own.name.kind;
            all.push_back(std::move(own));
        }
    }
    return all;
}

} // namespace residua::engine
