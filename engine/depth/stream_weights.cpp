// SPDX-License-Identifier: GPL-3.0-or-later
// Hyper-Connections (Zhu et al., 2024, eq. 2-14), mHC (Xie et al., 2025, eq. 7-9), identity hyper-connections (Hy4),
// mHC-lite and Frac-Connections. Arrays over tokens have the token last, as the mixing kernels take them.
#include "engine/depth/stream_weights.h"

#include "engine/depth/depth_rule.h"
#include "engine/ops/sinkhorn.h"
#include "engine/runtime/host_path.h"
#include "projects/depth/stream_start.h"
#include "projects/model/parameter_name.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/diag_embed.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace residua::engine {

using projects::MultiStream;
using projects::StreamConstraint;

namespace {

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

/// All permutation matrices of n streams [n!, in·out], in the order of the permutations as words.
at::Tensor permutationMatrices(std::int64_t n, at::TensorOptions options)
{
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    const at::Tensor identity = at::eye(n, at::kDouble);
    std::vector<at::Tensor> matrices;
    do {
        matrices.push_back(identity.index_select(0, at::tensor(order, at::kLong)).flatten());
    } while (std::ranges::next_permutation(order).found);
    return at::stack(matrices).to(options);
}

/// The connections of all layers, before or after the constraint: read [L, n, R], carry [L, in, out] or its logits,
/// write [L, n]. Connections of one layer's tokens have the token as the last dimension, no L and, for copies, no R.
struct Connections {
    at::Tensor read;
    at::Tensor carry; ///< undefined for the identity before the constraint
    at::Tensor write;
};

/// The part that all tokens share, free or constrained, and the exit.
class SharedWeights : public StreamWeights {
public:
    SharedWeights(const MultiStream& wiring, std::int64_t layers, std::int64_t width, InitPlan& plan)
        : m_wiring(wiring), m_sizes(projects::streamSizes(wiring, width)), m_layers(layers), m_compute(plan.compute())
    {
        const std::int64_t n = wiring.streams;
        const projects::StreamStart start = projects::streamStart(wiring);
        const std::int64_t each = projects::modulesPerHome(wiring);
        const at::Tensor matrix = at::eye(n, at::kDouble) * (start.carry - start.carryOff) + start.carryOff;
        const at::Tensor read =
            isCut() ? repeated(at::eye(n, at::kDouble), layers) : inTurn(layers, n, start.readOn, start.readOff, each);
        m_raw.read = plan.addValues(projects::kTopologyRead, read, Decay::No);
        if (wiring.constraint == StreamConstraint::Permutations) {
            at::Tensor logits = at::full({m_sizes.carry}, start.carryOff, at::kDouble);
            logits[0] = start.carry; // the identity is the first permutation
            m_raw.carry = plan.addValues(projects::kTopologyCarry, repeated(logits, layers), Decay::No);
            m_permutations = permutationMatrices(n, options());
        } else if (wiring.constraint == StreamConstraint::Identity) {
            m_identity = at::eye(n, options());
        } else {
            m_raw.carry = plan.addValues(projects::kTopologyCarry, repeated(matrix, layers), Decay::No);
        }
        m_raw.write =
            plan.addValues(projects::kTopologyWrite, inTurn(layers, n, start.writeOn, start.writeOff, each), Decay::No);
        if (hasHead()) {
            m_exit = plan.add(projects::topologyParameter("exit"), {n, n, width}, drawn(), Decay::Yes);
            const double bias = -std::log(std::max<double>(static_cast<double>(n - 1), 1));
            m_exitBias = plan.addConstant(projects::topologyParameter("exit_bias"), {n}, bias, Decay::No);
            m_exitScale =
                plan.addConstant(projects::topologyParameter("exit_scale"), {1}, wiring.dynamicScale, Decay::No);
        } else {
            m_plainExit = at::full({1, n}, plainExit(), options());
        }
    }

    void begin() override
    {
        const Connections applied = constrained({readOfStreams(), carryLast(), m_raw.write});
        m_read = applied.read.transpose(1, 2).contiguous().unbind(0);
        const at::Tensor carry = applied.carry.permute({2, 1, 0});
        const at::Tensor write = isCut() ? at::diag_embed(applied.write) : applied.write.unsqueeze(2);
        m_write = at::cat({carry, write}, 2).unbind(0);
    }

    [[nodiscard]] StreamMixes of(std::size_t layer, const DepthStack&) const override
    {
        StreamMixes mixes;
        mixes.read.weights = m_read[layer];
        mixes.write.weights = m_write[layer];
        return mixes;
    }

    [[nodiscard]] MixWeights exit(const DepthStack& stack) const override
    {
        MixWeights weights;
        if (!hasHead()) {
            weights.weights = m_plainExit;
            return weights;
        }
        const at::Tensor y = ofAllFeatures(stack, m_exit.unbind(0));
        weights.weightKind = kernels::WeightKind::none;
        weights.gateKind = kernels::GateKind::token;
        weights.tokenWeights =
            (at::sigmoid(y * m_exitScale + m_exitBias.unsqueeze(1)) + projects::kStreamEpsilon).unsqueeze(0);
        return weights;
    }

    [[nodiscard]] projects::StreamNumbers numbers() override
    {
        const at::NoGradGuard noGrad;
        const Connections applied = constrained({readOfStreams(), carryLast(), m_raw.write});
        const at::Tensor exit = hasHead() ? at::sigmoid(m_exitBias) + projects::kStreamEpsilon
                                          : at::full({m_wiring.streams}, plainExit(), options());
        const at::Tensor parts[] = {applied.read.flatten(), applied.carry.permute({2, 0, 1}).flatten(),
                                    applied.write.flatten(), exit};
        const std::vector<double> all = hostNumbers(at::cat(parts));
        auto next = all.begin();
        const auto take = [&](const at::Tensor& part) {
            const auto first = std::exchange(next, next + part.numel());
            return std::vector<double>(first, next);
        };
        projects::StreamNumbers numbers;
        numbers.read = take(parts[0]);
        numbers.carry = take(parts[1]);
        numbers.write = take(parts[2]);
        numbers.exit = take(parts[3]);
        return numbers;
    }

protected:
    [[nodiscard]] const MultiStream& wiring() const { return m_wiring; }
    [[nodiscard]] const projects::StreamSizes& sizes() const { return m_sizes; }
    [[nodiscard]] const Connections& raw() const { return m_raw; } ///< `read` of copies is [L, n]
    /// The learned numbers of the reads, [L, n, R]. Not kept, because a view would keep its gradient's node.
    [[nodiscard]] at::Tensor readOfStreams() const { return isCut() ? m_raw.read : m_raw.read.unsqueeze(2); }
    [[nodiscard]] bool isCut() const { return m_wiring.state == projects::StreamState::Fractions; }
    [[nodiscard]] static ParameterStart drawn()
    {
        return {.role = Role::Matrix, .deviation = projects::kStreamDrawn, .values = {}, .follows = {}};
    }

    /// Applies the wiring's constraint. The layers or tokens are the last dimension of `raw.carry`: [in, out, …], or of
    /// permutations the logits [n!, …].
    [[nodiscard]] Connections constrained(const Connections& raw) const
    {
        const std::int64_t n = m_wiring.streams;
        switch (m_wiring.constraint) {
        case StreamConstraint::None:
            break;
        case StreamConstraint::DoublyStochastic:
            return {at::sigmoid(raw.read), sinkhorn(raw.carry, m_wiring.sinkhornIterations),
                    at::sigmoid(raw.write) * 2};
        case StreamConstraint::Identity:
            return {at::sigmoid(raw.read) + projects::kStreamEpsilon, raw.carry,
                    at::sigmoid(raw.write) * 2 + projects::kStreamEpsilon};
        case StreamConstraint::Permutations:
            return {at::sigmoid(raw.read),
                    at::mm(m_permutations.t(), at::softmax(raw.carry, 0)).view({n, n, raw.carry.size(1)}),
                    at::sigmoid(raw.write) * 2};
        }
        return raw;
    }
    /// Returns the identity for `count` layers or tokens: [in, out, count].
    [[nodiscard]] at::Tensor identity(std::int64_t count) const
    {
        return m_identity.unsqueeze(2).expand({-1, -1, count});
    }
    /// Joins carry [in, out, …] and write [n, …] to weights [out, n + R, …].
    [[nodiscard]] at::Tensor joined(const at::Tensor& carry, const at::Tensor& write) const
    {
        const at::Tensor branch = isCut() ? at::diag_embed(write.t(), 0, 0, 1) : write.unsqueeze(1);
        return at::cat({carry.transpose(0, 1), branch}, 1);
    }

    /// Returns x·wᵀ of the stream x [N, w] with the rows w [m, w]: [m, N] in the parameters' type.
    [[nodiscard]] at::Tensor product(const at::Tensor& stream, const at::Tensor& rows) const
    {
        const at::Tensor given = stream.reshape({-1, stream.size(-1)});
        const at::Tensor x = multipliesAsFloat(given) ? given.to(at::kFloat) : given;
        return at::mm(rows.to(x.scalar_type()), x.t()).to(m_compute.parameterType);
    }
    /// Returns ‖x‖ of every token: [N].
    [[nodiscard]] at::Tensor norm(const at::Tensor& stream) const
    {
        const at::Tensor x = stream.reshape({-1, stream.size(-1)}).to(m_compute.parameterType);
        return at::linalg_vector_norm(x, 2, at::IntArrayRef{1});
    }
    /// Returns the product of all features of a token, divided by their root mean square, with the rows [m, d] of each
    /// stream: [m, N].
    [[nodiscard]] at::Tensor ofAllFeatures(const DepthStack& stack, const std::vector<at::Tensor>& rows) const
    {
        at::Tensor sum;
        at::Tensor squares;
        for (std::size_t stream = 0; stream < rows.size(); ++stream) {
            const at::Tensor& x = stack.entry(stream);
            const at::Tensor length = norm(x);
            const at::Tensor part = product(x, rows[stream]);
            sum = sum.defined() ? sum + part : part;
            squares = squares.defined() ? squares + length * length : length * length;
        }
        const auto features = static_cast<double>(m_wiring.streams * m_sizes.width);
        return sum * at::rsqrt(squares / features + projects::streamNormEpsilon(m_wiring));
    }

private:
    [[nodiscard]] at::TensorOptions options() const
    {
        return at::TensorOptions(m_compute.device).dtype(m_compute.parameterType);
    }
    [[nodiscard]] bool hasHead() const { return m_wiring.exit == projects::StreamExit::Head && !isCut(); }
    /// The weight of every stream in a sum or a mean.
    [[nodiscard]] double plainExit() const
    {
        return m_wiring.exit == projects::StreamExit::Mean ? 1.0 / static_cast<double>(m_wiring.streams) : 1;
    }
    /// The learned numbers of the matrices with the layers last.
    [[nodiscard]] at::Tensor carryLast() const
    {
        return m_raw.carry.defined() ? m_raw.carry.movedim(0, -1) : identity(m_layers);
    }

    const MultiStream m_wiring;
    const projects::StreamSizes m_sizes;
    std::int64_t m_layers;
    Compute m_compute;
    Connections m_raw;
    at::Tensor m_permutations; ///< [n!, in·out]
    at::Tensor m_identity;     ///< [n, n], where streams do not mix
    at::Tensor m_plainExit;    ///< [1, n], of a sum or a mean
    at::Tensor m_exit;         ///< φ_h: [stream, n, d]
    at::Tensor m_exitBias;
    at::Tensor m_exitScale;
    std::vector<at::Tensor> m_read;  ///< of each layer: [R, n]
    std::vector<at::Tensor> m_write; ///< of each layer: [n, n + R]
};

/// Dynamic Hyper-Connections: s·tanh(norm(H)·W) is added to the static weights (eq. 10-13). W has a row for each read,
/// a row for each stream after the layer, and a row for the factor of the write. With v = w ∘ gain, the
/// root-mean-square norm gives norm(x)·w = rstd·(x·v) and the layer norm rstd·(x·(v − mean v)), so that normalised
/// streams are not stored. The norm of Frac-Connections has a bias.
class DynamicWeights final : public SharedWeights {
public:
    DynamicWeights(const MultiStream& wiring, std::int64_t layers, std::int64_t width, InitPlan& plan)
        : SharedWeights(wiring, layers, width, plan)
    {
        m_norm = plan.add(projects::topologyParameter("norm"), {layers, sizes().width}, Role::Gain);
        if (isCut()) {
            m_bias = plan.add(projects::topologyParameter("norm_bias"), {layers, sizes().width}, Role::Bias);
        }
        // Hyper-Connections let the dynamic part decay and keep the static part from it; Frac-Connections keep both.
        m_dynamic = plan.addConstant(projects::topologyParameter("dynamic"), {layers, sizes().logits, sizes().width}, 0,
                                     isCut() ? Decay::No : Decay::Yes);
        m_scale = plan.addConstant(projects::topologyParameter("scale"), {layers, 2}, wiring.dynamicScale, Decay::No);
    }

    void begin() override
    {
        SharedWeights::begin();
        at::Tensor rows = m_dynamic * m_norm.unsqueeze(1);
        // LayerNorm also needs the sum of the features, computed by one more row.
        if (wiring().norm == projects::NormKind::Layer) {
            rows = at::cat({rows - rows.mean(2, true), at::ones_like(m_norm).unsqueeze(1)}, 1);
        }
        m_rows = rows.unbind(0);
        if (m_bias.defined()) {
            m_offsets = (m_dynamic * m_bias.unsqueeze(1)).sum(2, true).unbind(0);
        }
        m_scales = m_scale.unbind(0);
    }

    [[nodiscard]] StreamMixes of(std::size_t layer, const DepthStack& stack) const override
    {
        const std::int64_t n = wiring().streams;
        const std::int64_t reads = sizes().reads;
        std::vector<at::Tensor> parts;
        for (std::size_t stream = 0; stream < static_cast<std::size_t>(n); ++stream) {
            const at::Tensor part = normalised(stack.entry(stream), m_rows[layer]);
            parts.push_back(m_bias.defined() ? part + m_offsets[layer] : part);
        }
        const at::Tensor active = at::tanh(at::stack(parts)); // [n, R + n + 1, N]
        const at::Tensor alpha = active.narrow(1, 0, reads + n) * m_scales[layer][0];
        const at::Tensor beta = active.select(1, reads + n) * m_scales[layer][1];
        StreamMixes mixes = SharedWeights::of(layer, stack);
        mixes.read.gateKind = mixes.write.gateKind = kernels::GateKind::token;
        mixes.read.tokenWeights = alpha.narrow(1, 0, reads).transpose(0, 1).contiguous();
        mixes.write.tokenWeights = joined(alpha.narrow(1, reads, n), beta);
        return mixes;
    }

private:
    /// The rows times the normalised stream: [R + n + 1, N].
    [[nodiscard]] at::Tensor normalised(const at::Tensor& stream, const at::Tensor& rows) const
    {
        const auto w = static_cast<double>(sizes().width);
        const at::Tensor length = norm(stream);
        const at::Tensor products = product(stream, rows);
        if (wiring().norm == projects::NormKind::Rms) {
            return products * at::rsqrt(length * length / w + projects::streamNormEpsilon(wiring()));
        }
        const at::Tensor mean = products.select(0, sizes().logits) / w;
        const at::Tensor variance = (length * length / w - mean * mean).clamp_min(0);
        return products.narrow(0, 0, sizes().logits) * at::rsqrt(variance + kLayerNormEpsilon);
    }

    at::Tensor m_norm;    ///< [L, w]
    at::Tensor m_bias;    ///< [L, w], of fractions
    at::Tensor m_dynamic; ///< [L, R + n + 1, w]
    at::Tensor m_scale;   ///< [L, 2]: s_α, s_β
    std::vector<at::Tensor> m_rows;
    std::vector<at::Tensor> m_offsets; ///< of each layer: [R + n + 1, 1], what the bias gives
    std::vector<at::Tensor> m_scales;
};

/// mHC, identity hyper-connections and mHC-lite: all n·d features of a token give its weights, which are the constraint
/// applied to α·(norm(vec x)·φ) + b. φ contains the norm's gain (mHC, section 4.3.1), except in mHC-lite. The rows of φ
/// are n to read, those of the mixing matrix, and n to write.
class ConstrainedWeights final : public SharedWeights {
public:
    ConstrainedWeights(const MultiStream& wiring, std::int64_t layers, std::int64_t width, InitPlan& plan)
        : SharedWeights(wiring, layers, width, plan)
    {
        const std::int64_t n = wiring.streams;
        const bool isIdentity = wiring.constraint == StreamConstraint::Identity;
        if (wiring.constraint == StreamConstraint::Permutations) {
            m_norm = plan.add(projects::topologyParameter("norm"), {layers, n, width}, Role::Gain);
        }
        const std::vector<std::int64_t> shape{layers, n, sizes().logits, width};
        const std::string name = projects::topologyParameter("dynamic");
        m_dynamic =
            isIdentity ? plan.add(name, shape, drawn(), Decay::Yes) : plan.addConstant(name, shape, 0, Decay::Yes);
        m_scale = plan.addConstant(projects::topologyParameter("scale"), {layers, isIdentity ? 2 : 3},
                                   wiring.dynamicScale, Decay::No);
    }

    void begin() override
    {
        m_rows = (m_norm.defined() ? m_dynamic * m_norm.unsqueeze(2) : m_dynamic).unbind(0);
        m_scales = m_scale.unbind(0);
        m_reads = readOfStreams().unbind(0);
        m_writes = raw().write.unbind(0);
        if (raw().carry.defined()) {
            m_carries = raw().carry.unbind(0);
        }
    }

    [[nodiscard]] StreamMixes of(std::size_t layer, const DepthStack& stack) const override
    {
        const std::int64_t n = wiring().streams;
        const at::Tensor y = ofAllFeatures(stack, m_rows[layer].unbind(0));
        const at::Tensor& scale = m_scales[layer];
        Connections logits;
        logits.read = y.narrow(0, 0, n) * scale[0] + m_reads[layer];
        if (sizes().carry > 0) {
            const at::Tensor& all = m_carries[layer];
            logits.carry = y.narrow(0, n, sizes().carry) * scale[1] + all.reshape({-1, 1});
            logits.carry = all.dim() == 2 ? logits.carry.view({n, n, -1}) : logits.carry;
        } else {
            logits.carry = identity(y.size(1));
        }
        logits.write = y.narrow(0, n + sizes().carry, n) * scale[-1] + m_writes[layer].unsqueeze(1);
        const Connections applied = constrained(logits);
        StreamMixes mixes;
        mixes.read.weightKind = mixes.write.weightKind = kernels::WeightKind::none;
        mixes.read.gateKind = mixes.write.gateKind = kernels::GateKind::token;
        mixes.read.tokenWeights = applied.read.unsqueeze(0);
        mixes.write.tokenWeights = joined(applied.carry, applied.write);
        return mixes;
    }

private:
    at::Tensor m_norm;    ///< [L, n, d], of permutations
    at::Tensor m_dynamic; ///< φ: [L, n, logits, d]
    at::Tensor m_scale;   ///< α of read, carry (but not of the identity) and write
    std::vector<at::Tensor> m_rows;
    std::vector<at::Tensor> m_scales;
    std::vector<at::Tensor> m_reads; ///< [n, 1]
    std::vector<at::Tensor> m_carries;
    std::vector<at::Tensor> m_writes;
};

} // namespace

std::unique_ptr<StreamWeights> StreamWeights::create(const MultiStream& wiring, std::int64_t layers, std::int64_t width,
                                                     InitPlan& plan)
{
    if (wiring.weights == projects::StreamWeights::Static) {
        return std::make_unique<SharedWeights>(wiring, layers, width, plan);
    }
    if (wiring.constraint == StreamConstraint::None) {
        return std::make_unique<DynamicWeights>(wiring, layers, width, plan);
    }
    return std::make_unique<ConstrainedWeights>(wiring, layers, width, plan);
}

} // namespace residua::engine
