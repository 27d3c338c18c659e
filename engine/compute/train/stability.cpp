// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/stability.h"

#include "engine/base/api/row_curves.h"
#include "engine/compute/depth/layer_magnitudes.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace residua::engine {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

/// Returns the sum of squares in double precision.
double squares(const at::Tensor& x)
{
    const at::Tensor wide = x.to(at::kDouble);
    return (wide * wide).sum().item<double>();
}

/// Returns a pass of evaluation after `step` steps with the document's use of each layer.
Pass passOfAll(CompiledNetwork& network, std::int64_t step, std::int64_t layers)
{
    Pass pass = passAfter(step);
    pass.layers = network.layersOf(pass);
    pass.layers.resize(static_cast<std::size_t>(layers)); // if nothing is left out, all layers run
    return pass;
}

} // namespace

Stability::Stability(CompiledNetwork& network, const Dataset& dataset, const projects::Project& project,
                     c10::Device device, std::int64_t batches, std::int64_t step)
    : m_network(network),
      m_project(project),
      m_device(device),
      m_batches(dataset, Split::Validation, project.training, device, batches),
      m_step(step),
      m_passes(network, passOfAll(network, step, project.network.depth())),
      m_layers(static_cast<std::size_t>(project.network.depth()))
{
}

bool Stability::canGo(std::size_t layer) const
{
    return m_passes.pass().layers[layer].runs &&
           projects::mayBeLeftOut(m_project.stack().topology.wiring, static_cast<std::int64_t>(layer) + 1);
}

Status Stability::advance()
{
    const at::NoGradGuard noGrad;
    const c10::DeviceGuard current(m_device);
    const std::optional<DeviceBatch> batch = RESIDUA_TRY(m_batches.next());
    m_atEnd = !batch.has_value();
    if (m_atEnd) {
        return Done{};
    }
    const auto addLoss = [&](BatchMeans& means, const at::Tensor& output) {
        means.add(m_network.lossOf(output, *batch, m_passes.pass()), m_batches.units());
    };
    LayerMagnitudes magnitudes;
    const at::Tensor output = m_passes.whole(*batch, &magnitudes);
    const auto features = static_cast<double>(output.size(-1));
    const double rows = static_cast<double>(output.numel()) / features;
    addLoss(m_loss, output);
    m_rows += rows;
    if (const std::optional<Matrix> seen = magnitudes.matrix(m_step)) {
        addOutputs(*seen, features, rows, squares(output));
    }
    for (std::size_t layer = 0; layer < m_layers.size(); ++layer) {
        if (canGo(layer)) {
            const at::Tensor other = m_passes.altered(
                *batch, {.factors = {}, .off = {{static_cast<std::int64_t>(layer) + 1, projects::LayerPart::Whole}}});
            m_layers[layer].effect += squares(other - output);
            addLoss(m_layers[layer].loss, other);
        }
    }
    return Done{};
}

/// Adds the norms of the layers' outputs. The residual after a layer is the input of the next layer that runs, or at
/// the end the output of the stack (`last`, the sum of its squares).
void Stability::addOutputs(const Matrix& magnitudes, double features, double rows, double last)
{
    const auto halves = static_cast<std::size_t>(magnitudes.columns) / m_layers.size();
    double after = last;
    for (std::size_t layer = m_layers.size(); layer-- > 0;) {
        m_layers[layer].output += after;
        if (m_passes.pass().layers[layer].runs) {
            const auto column = static_cast<std::int64_t>(layer * halves);
            const double root = magnitudes.at(rowNumber(LayerMagnitude::Stream), column);
            after = root * root * features * rows;
        }
    }
}

std::vector<Matrix> Stability::matrices() const
{
    if (m_rows == 0 || m_layers.empty()) {
        return {};
    }
    const auto columns = static_cast<std::int64_t>(m_layers.size());
    Matrix stability{matrix::kStability, m_step, kStabilityRows, columns,
                     std::vector<float>(static_cast<std::size_t>(kStabilityRows * columns), kNone)};
    const double whole = loss();
    const auto put = [&](StabilityRow row, std::size_t layer, double value) {
        stability.values[static_cast<std::size_t>(row) * m_layers.size() + layer] = static_cast<float>(value);
    };
    for (std::size_t layer = 0; layer < m_layers.size(); ++layer) {
        if (m_passes.pass().layers[layer].runs) {
            put(StabilityRow::Output, layer, std::sqrt(m_layers[layer].output / m_rows));
        }
        if (canGo(layer)) {
            put(StabilityRow::Effect, layer, std::sqrt(m_layers[layer].effect / m_rows));
            put(StabilityRow::Rise, layer, m_layers[layer].loss.loss() - whole);
        }
    }
    Matrix gap = gapOf(stability);
    std::vector<Matrix> both;
    both.push_back(std::move(stability));
    both.push_back(std::move(gap));
    return both;
}

/// Returns matrix::kStabilityGap, a mean over the layers that can be left out.
Matrix Stability::gapOf(const Matrix& stability) const
{
    double sum = 0;
    double count = 0;
    for (std::int64_t layer = 0; layer < stability.columns; ++layer) {
        const float rise = stability.at(rowNumber(StabilityRow::Rise), layer);
        if (canGo(static_cast<std::size_t>(layer))) {
            sum += rise;
            ++count;
        }
    }
    return {matrix::kStabilityGap, m_step, 1, 1, {count > 0 ? static_cast<float>(-sum / count) : kNone}};
}

} // namespace residua::engine
