// SPDX-License-Identifier: GPL-3.0-or-later
// Hyper-Connections (Zhu et al., 2024, eq. 2-14) and mHC (Xie et al., 2025, eq. 7-9). Arrays over tokens have the token
// as the last dimension, as the mixing kernels require.
#include "engine/depth/stream_weights.h"

#include "engine/ops/sinkhorn.h"
#include "engine/runtime/host_products.h"
#include "projects/depth/stream_start.h"
#include "projects/model/parameter_name.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>

namespace residua::engine {

using projects::MultiStream;

namespace {

constexpr double kStreamNormEpsilon = 1e-6;
constexpr double kLayerNormEpsilon = 1e-5;

at::Tensor repeated(const at::Tensor& tensor, std::int64_t layers)
{
    std::vector<std::int64_t> shape = tensor.sizes().vec();
    shape.insert(shape.begin(), layers);
    return tensor.unsqueeze(0).expand(shape);
}

/// Returns [L, n]: in row l, `on` at column (l / each) mod n and `off` elsewhere.
at::Tensor inTurn(std::int64_t layers, std::int64_t n, double on, double off, std::int64_t each = 1)
{
    at::Tensor result = at::full({layers, n}, off, at::kDouble);
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        result[layer][layer / each % n] = on;
    }
    return result;
}

/// The connections of all layers: read [L, n], carry [L, in, out], write [L, n].
struct Connections {
    at::Tensor read;
    at::Tensor carry;
    at::Tensor write;
};

/// Joins carry [n(in), n(out), …] and write [n, …] into weights [out, n + 1, …].
at::Tensor joined(const at::Tensor& carry, const at::Tensor& write)
{
    return at::cat({carry.transpose(0, 1), write.unsqueeze(1)}, 1);
}

/// The part that all tokens share, free or constrained.
class SharedWeights : public StreamWeights {
public:
    SharedWeights(const MultiStream& wiring, std::int64_t layers, InitPlan& plan)
        : m_wiring(wiring), m_layers(layers), m_parameterType(plan.compute().parameterType)
    {
        const std::int64_t n = wiring.streams;
        if (isConstrained()) {
            const projects::StreamStart start = projects::streamStart(wiring);
            m_raw.read = plan.addValues(
                projects::kTopologyRead,
                inTurn(layers, n, start.readOn, start.readOff, projects::modulesPerHome(wiring)), Decay::No);
            const at::Tensor carry = at::eye(n, at::kDouble) * (start.carry - start.carryOff) + start.carryOff;
            m_raw.carry = plan.addValues(projects::kTopologyCarry, repeated(carry, layers), Decay::No);
            m_raw.write = plan.addConstant(projects::kTopologyWrite, {layers, n}, 0, Decay::No);
        } else {
            m_raw.read = plan.addValues(projects::kTopologyRead, inTurn(layers, n, 1, 0), Decay::No);
            m_raw.carry =
                plan.addValues(projects::kTopologyCarry, repeated(at::eye(n, at::kDouble), layers), Decay::No);
            m_raw.write = plan.addConstant(projects::kTopologyWrite, {layers, n}, 1, Decay::No);
        }
    }

    void begin() override
    {
        const auto [read, carry, write] = applied();
        m_read = read.unsqueeze(1).unbind(0);
        m_write = at::cat({carry.transpose(1, 2), write.unsqueeze(2)}, 2).unbind(0);
    }

    [[nodiscard]] StreamMixes of(std::size_t layer, const DepthStack&) const override
    {
        StreamMixes mixes;
        mixes.read.weights = m_read[layer];
        mixes.write.weights = m_write[layer];
        return mixes;
    }

    [[nodiscard]] std::vector<StreamNumbers> numbers() override
    {
        const at::NoGradGuard noGrad;
        const auto [read, carry, write] = applied();
        const at::Tensor host = at::cat({read, carry.flatten(1), write}, 1).to(at::kCPU, at::kFloat).contiguous();
        const float* next = host.const_data_ptr<float>();
        const auto take = [&](std::int64_t count) {
            const std::vector<float> taken(next, next + count);
            next += count;
            return taken;
        };
        const std::int64_t n = m_wiring.streams;
        std::vector<StreamNumbers> result;
        for (std::int64_t layer = 0; layer < m_layers; ++layer) {
            StreamNumbers& layerNumbers = result.emplace_back();
            layerNumbers.read = take(n);
            layerNumbers.carry = take(n * n);
            layerNumbers.write = take(n);
        }
        return result;
    }

protected:
    [[nodiscard]] bool isConstrained() const
    {
        return m_wiring.constraint == projects::StreamConstraint::DoublyStochastic;
    }
    [[nodiscard]] const MultiStream& wiring() const { return m_wiring; }
    [[nodiscard]] const Connections& raw() const { return m_raw; }

    /// Returns x·wᵀ of `stream` with rows w [m, d]: [m, N] in the parameters' type.
    [[nodiscard]] at::Tensor product(const at::Tensor& stream, const at::Tensor& rows) const
    {
        const at::Tensor given = stream.reshape({-1, stream.size(-1)});
        const at::Tensor x = multipliesAsFloat(given) ? given.to(at::kFloat) : given;
        return at::mm(rows.to(x.scalar_type()), x.t()).to(m_parameterType);
    }
    /// Returns ‖x‖ of every token: [N].
    [[nodiscard]] at::Tensor norm(const at::Tensor& stream) const
    {
        return at::linalg_vector_norm(stream.reshape({-1, stream.size(-1)}).to(m_parameterType), 2, at::IntArrayRef{1});
    }

private:
    [[nodiscard]] Connections applied() const
    {
        if (!isConstrained()) {
            return m_raw;
        }
        const at::Tensor carry = sinkhorn(m_raw.carry.permute({1, 2, 0}), m_wiring.sinkhornIterations);
        return {at::sigmoid(m_raw.read), carry.permute({2, 0, 1}), at::sigmoid(m_raw.write) * 2};
    }

    const MultiStream m_wiring;
    std::int64_t m_layers;
    at::ScalarType m_parameterType;
    Connections m_raw;
    std::vector<at::Tensor> m_read;  ///< of each layer: [1, n]
    std::vector<at::Tensor> m_write; ///< of each layer: [n, n + 1]
};

/// Dynamic Hyper-Connections: s·tanh(norm(H)·W) added to the static weights (eq. 10-13). The rows of W give a stream's
/// contribution to the read, to each new stream, and to the factor of the write. With v = w ∘ gain, the
/// root-mean-square norm gives norm(x)·w = rstd·(x·v) and the layer norm rstd·(x·(v − mean v)), so the normalised
/// streams are never stored.
class DynamicWeights final : public SharedWeights {
public:
    DynamicWeights(const MultiStream& wiring, std::int64_t layers, std::int64_t width, InitPlan& plan)
        : SharedWeights(wiring, layers, plan), m_width(width)
    {
        const std::int64_t rows = wiring.streams + 2;
        m_norm = plan.add(projects::topologyParameter("norm"), {layers, width}, Role::Gain);
        // As in the paper, weight decay applies to the dynamic part only.
        m_dynamic = plan.addConstant(projects::topologyParameter("dynamic"), {layers, rows, width}, 0, Decay::Yes);
        m_scale = plan.addConstant(projects::topologyParameter("scale"), {layers, 2}, wiring.dynamicScale, Decay::No);
    }

    void begin() override
    {
        SharedWeights::begin();
        at::Tensor rows = m_dynamic * m_norm.unsqueeze(1);
        // LayerNorm also needs the sum of the features, computed by one more row.
        if (wiring().norm == projects::StreamNorm::Layer) {
            rows = at::cat({rows - rows.mean(2, true), at::ones_like(m_norm).unsqueeze(1)}, 1);
        }
        m_rows = rows.unbind(0);
        m_scales = m_scale.unbind(0);
    }

    [[nodiscard]] StreamMixes of(std::size_t layer, const DepthStack& stack) const override
    {
        const std::int64_t n = wiring().streams;
        std::vector<at::Tensor> parts;
        for (std::size_t stream = 0; stream < static_cast<std::size_t>(n); ++stream) {
            parts.push_back(normalised(stack.entry(stream), m_rows[layer]));
        }
        const at::Tensor active = at::tanh(at::stack(parts)); // [n, n + 2, N]
        const at::Tensor alpha = active.narrow(1, 0, n + 1) * m_scales[layer][0];
        const at::Tensor beta = active.select(1, n + 1) * m_scales[layer][1];
        StreamMixes mixes = SharedWeights::of(layer, stack);
        mixes.read.gateKind = mixes.write.gateKind = kernels::GateKind::token;
        mixes.read.tokenWeights = alpha.select(1, 0).unsqueeze(0).contiguous();
        mixes.write.tokenWeights = joined(alpha.narrow(1, 1, n), beta);
        return mixes;
    }

private:
    /// Returns the rows times the normalised stream: [n + 2, N].
    [[nodiscard]] at::Tensor normalised(const at::Tensor& stream, const at::Tensor& rows) const
    {
        const auto d = static_cast<double>(m_width);
        const at::Tensor length = norm(stream);
        const at::Tensor products = product(stream, rows);
        if (wiring().norm == projects::StreamNorm::Rms) {
            return products * at::rsqrt(length * length / d + kStreamNormEpsilon);
        }
        const at::Tensor mean = products.select(0, wiring().streams + 2) / d;
        const at::Tensor variance = (length * length / d - mean * mean).clamp_min(0);
        return products.narrow(0, 0, wiring().streams + 2) * at::rsqrt(variance + kLayerNormEpsilon);
    }

    std::int64_t m_width;
    at::Tensor m_norm;    ///< [L, d]
    at::Tensor m_dynamic; ///< [L, n + 2, d]
    at::Tensor m_scale;   ///< [L, 2]: s_α, s_β
    std::vector<at::Tensor> m_rows;
    std::vector<at::Tensor> m_scales;
};

/// mHC: computes all weights of a token from all its n·d features: σ, Sinkhorn and 2σ of α·(norm(vec x)·φ) + b. The
/// norm's gain is absorbed in φ (section 4.3.1). φ has n rows to read, n² to carry [in, out] and n to write.
class ConstrainedWeights final : public SharedWeights {
public:
    ConstrainedWeights(const MultiStream& wiring, std::int64_t layers, std::int64_t width, InitPlan& plan)
        : SharedWeights(wiring, layers, plan), m_width(width)
    {
        const std::int64_t n = wiring.streams;
        m_dynamic =
            plan.addConstant(projects::topologyParameter("dynamic"), {layers, n, n * n + 2 * n, width}, 0, Decay::Yes);
        m_scale = plan.addConstant(projects::topologyParameter("scale"), {layers, 3}, wiring.dynamicScale, Decay::No);
    }

    void begin() override
    {
        m_rows = m_dynamic.unbind(0);
        m_scales = m_scale.unbind(0);
        m_reads = raw().read.unbind(0);
        m_carries = raw().carry.unbind(0);
        m_writes = raw().write.unbind(0);
    }

    [[nodiscard]] StreamMixes of(std::size_t layer, const DepthStack& stack) const override
    {
        const std::int64_t n = wiring().streams;
        const std::vector<at::Tensor> rows = m_rows[layer].unbind(0);
        at::Tensor sum;
        at::Tensor squares;
        for (std::size_t stream = 0; stream < static_cast<std::size_t>(n); ++stream) {
            const at::Tensor& x = stack.entry(stream);
            const at::Tensor length = norm(x);
            const at::Tensor part = product(x, rows[stream]);
            sum = sum.defined() ? sum + part : part;
            squares = squares.defined() ? squares + length * length : length * length;
        }
        const at::Tensor y = sum * at::rsqrt(squares / static_cast<double>(n * m_width) + kStreamNormEpsilon);
        const at::Tensor& scale = m_scales[layer];
        const at::Tensor read = at::sigmoid(y.narrow(0, 0, n) * scale[0] + m_reads[layer].unsqueeze(1));
        const at::Tensor carry =
            sinkhorn(y.narrow(0, n, n * n).view({n, n, -1}) * scale[1] + m_carries[layer].unsqueeze(2),
                     wiring().sinkhornIterations);
        const at::Tensor write = at::sigmoid(y.narrow(0, n + n * n, n) * scale[2] + m_writes[layer].unsqueeze(1)) * 2;
        StreamMixes mixes;
        mixes.read.weightKind = mixes.write.weightKind = kernels::WeightKind::none;
        mixes.read.gateKind = mixes.write.gateKind = kernels::GateKind::token;
        mixes.read.tokenWeights = read.unsqueeze(0);
        mixes.write.tokenWeights = joined(carry, write);
        return mixes;
    }

private:
    std::int64_t m_width;
    at::Tensor m_dynamic; ///< φ: [L, n, n² + 2n, d]
    at::Tensor m_scale;   ///< [L, 3]: α of read, carry, write
    std::vector<at::Tensor> m_rows;
    std::vector<at::Tensor> m_scales;
    std::vector<at::Tensor> m_reads;
    std::vector<at::Tensor> m_carries;
    std::vector<at::Tensor> m_writes;
};

} // namespace

std::unique_ptr<StreamWeights> StreamWeights::create(const MultiStream& wiring, std::int64_t layers, std::int64_t width,
                                                     InitPlan& plan)
{
    if (wiring.weights == projects::StreamWeights::Static) {
        return std::make_unique<SharedWeights>(wiring, layers, plan);
    }
    if (wiring.constraint == projects::StreamConstraint::None) {
        return std::make_unique<DynamicWeights>(wiring, layers, width, plan);
    }
    return std::make_unique<ConstrainedWeights>(wiring, layers, width, plan);
}

} // namespace residua::engine
