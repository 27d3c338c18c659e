// SPDX-License-Identifier: GPL-3.0-or-later
// Hyper-Connections and mHC: n residual streams, copies of the input at the start and summed at the end. A layer's read
// and its new streams are mixes of n and n + 1 entries, computed by DepthStack::mix. Each layer has a stack of its own,
// so its streams are freed after their readers, except for the backward pass.
//
// At the start of Hyper-Connections every stream equals the plain network's residual bit for bit, and the output is n
// times it; under mHC both hold up to rounding.
#include "engine/api/matrix_name.h"
#include "engine/depth/layer_wiring.h"
#include "engine/depth/stream_weights.h"

#include <ATen/ops/ones.h>

#include <algorithm>

namespace residua::engine {
namespace {

/// Returns one mix of the first `entries` entries for each row of `weights`, computed in groups of the kernels'
/// maximum.
std::vector<at::Tensor> mixRows(DepthStack& stack, const MixWeights& weights, std::int64_t entries, std::int64_t rows)
{
    std::vector<std::size_t> sources;
    for (std::int64_t s = 0; s < entries; ++s) {
        sources.push_back(static_cast<std::size_t>(s));
    }
    std::vector<at::Tensor> result;
    for (std::int64_t row = 0; row < rows; row += kernels::kMaxOutputs) {
        const std::int64_t count = std::min<std::int64_t>(rows - row, kernels::kMaxOutputs);
        MixWeights some = weights;
        for (at::Tensor* const tensor : {&some.weights, &some.tokenWeights}) {
            if (tensor->defined()) {
                *tensor = tensor->narrow(0, row, count);
            }
        }
        std::ranges::move(stack.mix(sources, some, static_cast<int>(count)), std::back_inserter(result));
    }
    return result;
}

class StreamWiring final : public LayerWiring {
public:
    StreamWiring(const projects::MultiStream& wiring, LayerStack layers, std::int64_t width, InitPlan& plan)
        : m_streams(wiring.streams),
          m_layers(std::move(layers)),
          m_compute(plan.compute()),
          m_weights(StreamWeights::create(wiring, static_cast<std::int64_t>(m_layers.size()), width, plan)),
          m_ones(at::ones({1, m_streams}, at::TensorOptions(m_compute.device).dtype(m_compute.parameterType)))
    {
    }

    [[nodiscard]] at::Tensor run(const at::Tensor& input, const Pass& pass) override
    {
        m_weights->begin();
        std::vector<at::Tensor> streams(static_cast<std::size_t>(m_streams),
                                        m_layers.enter(input, pass).to(m_compute.residualType));
        for (std::size_t layer = 0; layer < m_layers.size(); ++layer) {
            if (!m_layers.runs(layer, pass)) {
                continue; // its streams are unchanged
            }
            DepthStack stack = stackOf(streams);
            const StreamMixes mixes = m_weights->of(layer, stack);
            const at::Tensor read = mixRows(stack, mixes.read, m_streams, 1).front();
            stack.push(m_layers.runOn(layer, read, pass));
            streams = mixRows(stack, mixes.write, m_streams + 1, m_streams);
        }
        DepthStack stack = stackOf(streams);
        MixWeights sum;
        sum.weights = m_ones;
        return mixRows(stack, sum, m_streams, 1).front();
    }

    /// Returns "mix": the weight of each branch at each later layer through the streams, as the paper unfolds it
    /// (section 4.5), and in the final sum. Also returns "read" and "write" (layers by streams) and "carry" (for each
    /// layer n rows, the old streams, by n columns, the new streams). Excludes the parts that depend on the token.
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        const std::vector<StreamNumbers> layers = m_weights->numbers();
        const auto depth = static_cast<std::int64_t>(layers.size());
        Matrix read{matrix::kStreamRead, step, depth, m_streams, {}};
        Matrix carry{matrix::kStreamCarry, step, depth * m_streams, m_streams, {}};
        Matrix write{matrix::kStreamWrite, step, depth, m_streams, {}};
        for (const StreamNumbers& layer : layers) {
            read.values.insert(read.values.end(), layer.read.begin(), layer.read.end());
            carry.values.insert(carry.values.end(), layer.carry.begin(), layer.carry.end());
            write.values.insert(write.values.end(), layer.write.begin(), layer.write.end());
        }
        return {unfolded(unfold(layers), step), std::move(read), std::move(carry), std::move(write)};
    }

private:
    [[nodiscard]] DepthStack stackOf(const std::vector<at::Tensor>& streams) const
    {
        DepthStack stack(m_compute);
        for (const at::Tensor& stream : streams) {
            stack.push(stream);
        }
        return stack;
    }

    /// w_ij = read_j · carry_{j−1} ⋯ carry_{i+1} · write_i, computed by passing the share of each entry in each stream
    /// from layer to layer.
    [[nodiscard]] std::vector<std::vector<float>> unfold(const std::vector<StreamNumbers>& layers) const
    {
        const auto n = static_cast<std::size_t>(m_streams);
        std::vector<std::vector<float>> shares{std::vector<float>(n, 1)}; // of each entry, by stream
        std::vector<std::vector<float>> result;
        const auto weigh = [&](const std::vector<float>& read) {
            std::vector<float>& row = result.emplace_back();
            for (const std::vector<float>& share : shares) {
                float sum = 0;
                for (std::size_t stream = 0; stream < n; ++stream) {
                    sum += read[stream] * share[stream];
                }
                row.push_back(sum);
            }
        };
        for (const StreamNumbers& layer : layers) {
            weigh(layer.read);
            for (std::vector<float>& share : shares) {
                std::vector<float> next(n, 0);
                for (std::size_t in = 0; in < n; ++in) {
                    for (std::size_t out = 0; out < n; ++out) {
                        next[out] += layer.carry[in * n + out] * share[in];
                    }
                }
                share = std::move(next);
            }
            shares.push_back(layer.write);
        }
        weigh(std::vector<float>(n, 1));
        return result;
    }

    std::int64_t m_streams;
    LayerStack m_layers;
    Compute m_compute;
    std::unique_ptr<StreamWeights> m_weights;
    at::Tensor m_ones; ///< [1, n]: the final sum's weights
};

} // namespace

LayerWiringResult makeStreamWiring(const projects::MultiStream& wiring, LayerStack layers, std::int64_t width,
                                   InitPlan& plan)
{
    if (wiring.streams < 1) {
        return Error{"topology · streams", "got " + std::to_string(wiring.streams) + ", expected at least 1"};
    }
    if (wiring.constraint == projects::StreamConstraint::DoublyStochastic && wiring.streams < 2) {
        return Error{"topology · streams", "got 1, expected at least 2 to mix"};
    }
    return std::unique_ptr<LayerWiring>(std::make_unique<StreamWiring>(wiring, std::move(layers), width, plan));
}

} // namespace residua::engine
