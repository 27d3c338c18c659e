// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/depth/layer_magnitudes.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace residua::engine {
namespace {

at::Tensor rootMeanSquare(const at::Tensor& x)
{
    const double count = static_cast<double>(std::max<std::int64_t>(x.numel(), 1));
    const at::ScalarType type = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    return at::linalg_vector_norm(x, 2, at::OptionalIntArrayRef(), false, type).div_(std::sqrt(count)).to(at::kFloat);
}

} // namespace

void LayerMagnitudes::saw(std::size_t layer, std::size_t layers, const at::Tensor& input, const at::Tensor& branch)
{
    const at::NoGradGuard noGrad;
    m_layers.resize(layers);
    m_layers[layer] = {rootMeanSquare(input), rootMeanSquare(branch)};
}

std::optional<Matrix> LayerMagnitudes::matrix(std::int64_t step) const
{
    std::vector<at::Tensor> seen;
    std::vector<std::size_t> places; ///< of each in the matrix
    for (std::size_t layer = 0; layer < m_layers.size(); ++layer) {
        for (std::size_t kind = 0; kind < m_layers[layer].size(); ++kind) {
            if (m_layers[layer][kind].defined()) {
                seen.push_back(m_layers[layer][kind]);
                places.push_back(kind * m_layers.size() + layer);
            }
        }
    }
    if (seen.empty()) {
        return std::nullopt;
    }
    Matrix matrix{kLayerMagnitudes, step, kLayerMagnitudeKinds, static_cast<std::int64_t>(m_layers.size()), {}};
    matrix.values.assign(kLayerMagnitudeKinds * m_layers.size(), std::numeric_limits<float>::quiet_NaN());
    const at::Tensor values = at::stack(seen).cpu();
    for (std::size_t i = 0; i < places.size(); ++i) {
        matrix.values[places[i]] = values.const_data_ptr<float>()[i];
    }
    return matrix;
}

} // namespace residua::engine
