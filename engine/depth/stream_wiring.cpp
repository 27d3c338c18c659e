// SPDX-License-Identifier: GPL-3.0-or-later
// Multi-stream residuals (Hyper-Connections and what follows from them): n residual streams, copies of the input or
// fractions of its features. A layer's read and its new streams are mixes of n and n + R entries on the one mixing
// path, where R is 1 for copies and n for fractions; a stack for each layer, so that nothing outlives its readers but
// for the backward pass.
//
// At the start of Hyper-Connections every stream is the plain network's residual, to the bit, and so is the residual of
// Frac-Connections; under mHC up to rounding.
#include "engine/api/matrix_name.h"
#include "engine/depth/layer_wiring.h"
#include "engine/depth/stream_weights.h"
#include "projects/depth/stream_start.h"

#include <ATen/ops/cat.h>

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
          m_reads(projects::streamSizes(wiring, width).reads),
          m_isCut(wiring.state == projects::StreamState::Fractions),
          m_weights(StreamWeights::create(wiring, static_cast<std::int64_t>(m_layers.size()), width, plan))
    {
    }

    [[nodiscard]] at::Tensor run(const at::Tensor& input, const Pass& pass) override
    {
        m_weights->begin();
        const at::Tensor entering = m_layers.enter(input, pass).to(m_compute.residualType);
        std::vector<at::Tensor> streams =
            m_isCut ? parts(entering) : std::vector<at::Tensor>(static_cast<std::size_t>(m_streams), entering);
        for (std::size_t layer = 0; layer < m_layers.size(); ++layer) {
            if (!m_layers.runs(layer, pass)) {
                continue; // its streams are unchanged
            }
            DepthStack stack = stackOf(streams);
            const StreamMixes mixes = m_weights->of(layer, stack);
            const at::Tensor read = joined(mixRows(stack, mixes.read, m_streams, m_reads));
            for (const at::Tensor& part : parts(m_layers.runOn(layer, read, pass))) {
                stack.push(part);
            }
            streams = mixRows(stack, mixes.write, m_streams + m_reads, m_streams);
        }
        if (m_isCut) {
            return joined(streams);
        }
        DepthStack stack = stackOf(streams);
        return mixRows(stack, m_weights->exit(stack), m_streams, 1).front();
    }

    /// "mix": with what weight each branch reaches each later layer through the streams, as the paper unfolds it
    /// (section 4.5), and the exit; of fractions the mean over them of how a fraction reaches itself. "read", "write":
    /// layers by streams. "carry", of fractions "read" too: of each layer n rows, from stream, by n columns, to stream.
    /// What depends on the token is not in them.
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        const std::vector<StreamNumbers> layers = m_weights->numbers();
        const auto depth = static_cast<std::int64_t>(layers.size());
        Matrix read{matrix::kStreamRead, step, depth * m_reads, m_streams, {}};
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
    /// Splits a layer's input or output into its R parts; joined() is the inverse.
    [[nodiscard]] std::vector<at::Tensor> parts(const at::Tensor& whole) const
    {
        return m_reads == 1 ? std::vector<at::Tensor>{whole} : whole.chunk(m_reads, -1);
    }
    [[nodiscard]] static at::Tensor joined(const std::vector<at::Tensor>& parts)
    {
        return parts.size() == 1 ? parts.front() : at::cat(parts, -1);
    }

    [[nodiscard]] DepthStack stackOf(const std::vector<at::Tensor>& streams) const
    {
        DepthStack stack(m_compute);
        for (const at::Tensor& stream : streams) {
            stack.push(stream);
        }
        return stack;
    }

    /// w_ij = read_j · carry_{j−1} ⋯ carry_{i+1} · write_i: the shares [R, n] of each entry's parts in each stream go
    /// from layer to layer. A read [n, R] weighs each part by its own.
    [[nodiscard]] std::vector<std::vector<float>> unfold(const std::vector<StreamNumbers>& layers) const
    {
        const auto n = static_cast<std::size_t>(m_streams);
        const auto each = static_cast<std::size_t>(m_reads); // parts of an entry
        const auto entry = [&](const std::vector<float>& write) {
            std::vector<float> shares(each * n, 0);
            for (std::size_t stream = 0; stream < n; ++stream) {
                shares[m_isCut ? stream * n + stream : stream] = write[stream];
            }
            return shares;
        };
        std::vector<std::vector<float>> entries{entry(std::vector<float>(n, 1))};
        std::vector<std::vector<float>> result;
        const auto weigh = [&](const std::vector<float>& read) {
            std::vector<float>& row = result.emplace_back();
            for (const std::vector<float>& shares : entries) {
                float sum = 0;
                for (std::size_t place = 0; place < shares.size(); ++place) {
                    sum += read[place % n * each + place / n] * shares[place];
                }
                row.push_back(sum / static_cast<float>(each));
            }
        };
        for (const StreamNumbers& layer : layers) {
            weigh(layer.read);
            for (std::vector<float>& shares : entries) {
                std::vector<float> next(shares.size(), 0);
                for (std::size_t place = 0; place < shares.size(); ++place) {
                    for (std::size_t out = 0; out < n; ++out) {
                        next[place / n * n + out] += layer.carry[place % n * n + out] * shares[place];
                    }
                }
                shares = std::move(next);
            }
            entries.push_back(entry(layer.write));
        }
        weigh(m_isCut ? entry(std::vector<float>(n, 1)) : m_weights->exitNumbers());
        return result;
    }

    std::int64_t m_streams;
    LayerStack m_layers;
    Compute m_compute;
    std::int64_t m_reads; ///< R
    bool m_isCut;         ///< the streams are fractions
    std::unique_ptr<StreamWeights> m_weights;
};

} // namespace

LayerWiringResult makeStreamWiring(const projects::MultiStream& wiring, LayerStack layers, std::int64_t width,
                                   InitPlan& plan)
{
    if (wiring.streams < 1) {
        return Error{"topology · streams", "got " + std::to_string(wiring.streams) + ", expected at least 1"};
    }
    if (wiring.constraint != projects::StreamConstraint::None && wiring.streams < 2) {
        return Error{"topology · streams", "got 1, expected at least 2 to mix"};
    }
    if (wiring.state == projects::StreamState::Fractions && width % wiring.streams != 0) {
        return Error{"topology · streams", "got " + std::to_string(wiring.streams) +
                                               ", expected a number of fractions that divides the width, " +
                                               std::to_string(width)};
    }
    return std::unique_ptr<LayerWiring>(std::make_unique<StreamWiring>(wiring, std::move(layers), width, plan));
}

} // namespace residua::engine
