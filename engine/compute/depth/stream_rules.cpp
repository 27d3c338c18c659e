// SPDX-License-Identifier: GPL-3.0-or-later
// Multi-stream residuals: Hyper-Connections (Zhu et al., 2024, eq. 2-14), mHC (Xie et al., 2025, eq. 7-9), identity
// hyper-connections (Hy4), mHC-lite and Frac-Connections. The n streams are copies of the input or fractions of its
// features. A layer's read and its new streams are mixes of n and n + R entries on the one mixing path, where R is 1
// for copies and n for fractions; a stack for each layer, so that nothing outlives its readers but for the backward
// pass. Arrays over tokens have the token last, as the mixing kernels take them.
//
// At the start of Hyper-Connections every stream is the plain network's residual, to the bit, and so is the residual of
// Frac-Connections; under mHC up to rounding.
#include "engine/base/api/matrix_name.h"
#include "engine/compute/depth/altered_streams.h"
#include "engine/compute/depth/depth_rule.h"
#include "engine/compute/depth/stack_borders.h"
#include "engine/compute/ops/operators.h"
#include "engine/compute/runtime/host_path.h"
#include "projects/depth/stream_start.h"
#include "projects/depth/unrolled_depth.h"

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
#include <c10/util/Exception.h>

#include <algorithm>
#include <numeric>

namespace residua::engine {

using projects::MultiStream;
using projects::StreamConstraint;

namespace {

constexpr double kLayerNormEpsilon = 1e-5;

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

/// The connections of one module, as mixing weights.
struct StreamMixes {
    MixWeights read;  ///< [R, n]: from the streams to the layer's input (A_m, H_pre)
    MixWeights write; ///< [n, n + R]: from the old streams (A_r, H_res) and the branch (B, H_post) to the new streams
};

/// Returns one mix for each row of `weights`, computed in groups of the kernels' maximum.
std::vector<at::Tensor> mixRows(DepthStack& stack, const MixWeights& weights, const MixInputs& inputs,
                                std::size_t outputs)
{
    const auto rows = static_cast<std::int64_t>(outputs);
    std::vector<at::Tensor> result;
    for (std::int64_t row = 0; row < rows; row += kernels::kMaxOutputs) {
        const std::int64_t count = std::min<std::int64_t>(rows - row, kernels::kMaxOutputs);
        MixWeights some = weights;
        for (at::Tensor* const tensor : {&some.weights, &some.tokenWeights}) {
            if (tensor->defined()) {
                *tensor = tensor->narrow(0, row, count);
            }
        }
        EntryFactors factors;
        for (const auto& [entry, all] : inputs.factors) {
            const auto first = all.begin() + row;
            factors[entry].assign(first, first + count);
        }
        std::ranges::move(stack.mix(inputs.entries, some, static_cast<int>(count), {}, factors),
                          std::back_inserter(result));
    }
    return result;
}

/// Connections that all tokens share, free or constrained, and the exit. Subclasses add what depends on the token.
class StreamRule : public DepthRule {
public:
    StreamRule(const MultiStream& wiring, const LayerStack& layers, std::int64_t width, const WiringTensors& tensors,
               const Compute& compute)
        : m_wiring(wiring),
          m_sizes(projects::streamSizes(wiring, width)),
          m_compute(compute),
          m_raw{tensors["read"], tensors["carry"], tensors["write"]},
          m_norm(tensors["norm"]),
          m_bias(tensors["norm_bias"]),
          m_dynamic(tensors["dynamic"]),
          m_scale(tensors["scale"]),
          m_layers(static_cast<std::int64_t>(layers.rowLayers())),
          m_modules(layers.rows()),
          m_exit(tensors["exit"]),
          m_exitBias(tensors["exit_bias"]),
          m_exitScale(tensors["exit_scale"])
    {
        const std::int64_t n = wiring.streams;
        if (wiring.constraint == StreamConstraint::Permutations) {
            m_permutations = permutationMatrices(n, options());
        } else if (wiring.constraint == StreamConstraint::Identity) {
            m_identity = at::eye(n, options());
        }
        if (!m_exit.defined()) {
            m_plainExit = at::full({1, n}, plainExit(), options());
        }
    }

    void begin(const Pass& pass) final
    {
        m_pass = &pass;
        prepare();
    }

    /// Computes what all modules of the pass share.
    virtual void prepare()
    {
        const Connections applied = constrained({readOfStreams(), carryLast(), m_raw.write});
        const StreamTerms terms = streamTerms(applied.read, applied.carry.movedim(-1, 0), applied.write);
        m_read = terms.read.unbind(0);
        m_write = terms.write.unbind(0);
    }

    /// The weights of a module's read and write are computed from the streams that it reads.
    [[nodiscard]] std::vector<at::Tensor> mix(const projects::DepthStep& step, const MixInputs& inputs,
                                              DepthStack* stack) override
    {
        if (step.row % 2 == 0) {
            StreamMixes mixes = routing(step.row / 2, *stack);
            m_following = std::move(mixes.write);
            return mixRows(*stack, mixes.read, inputs, step.outputs);
        }
        const MixWeights write = std::exchange(m_following, {});
        return mixRows(*stack, write, inputs, step.outputs);
    }

    /// "mix": with what weight each branch reaches each later layer through the streams, as the paper unfolds it
    /// (section 4.5), and the exit; of fractions the mean over them of how a fraction reaches itself. "read", "write":
    /// layers by streams. "carry", of fractions "read" too: of each layer n rows, from stream, by n columns, to stream.
    /// What depends on the token is not in them.
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        const at::NoGradGuard noGrad;
        const Connections applied = constrained({readOfStreams(), carryLast(), m_raw.write});
        const at::Tensor carry = applied.carry.movedim(-1, 0);
        const at::Tensor exit =
            m_exit.defined() ? at::sigmoid(m_exitBias) + projects::kStreamEpsilon : m_plainExit.flatten();
        const std::vector<double> weights = streamTerms(applied.read, carry, applied.write).numbers(exit);
        const projects::UnrolledDepth sums =
            projects::unrolled(projects::programOf(m_wiring, m_layers), {1, weights}, projects::Granularity::Module);
        const auto matrix = [&](const char* name, const at::Tensor& tensor) {
            const std::vector<double> values = hostNumbers(tensor);
            const std::int64_t n = m_wiring.streams;
            return Matrix{name, step, tensor.numel() / n, n, {values.begin(), values.end()}};
        };
        return {mixMatrix(sums, step), matrix(matrix::kStreamRead, applied.read), matrix(matrix::kStreamCarry, carry),
                matrix(matrix::kStreamWrite, applied.write)};
    }

protected:
    /// Returns the mixes of module `module` (from 0), whose streams are the first n entries of `stack`.
    [[nodiscard]] virtual StreamMixes of(std::size_t module, const DepthStack& /*stack*/) const
    {
        StreamMixes mixes;
        mixes.read.weights = m_read[module];
        mixes.write.weights = m_write[module];
        return mixes;
    }

    /// The learned numbers of the reads, [L, n, R]. Not kept, because a view would keep its gradient's node.
    [[nodiscard]] at::Tensor readOfStreams() const { return isCut() ? m_raw.read : m_raw.read.unsqueeze(2); }
    [[nodiscard]] bool isCut() const { return m_wiring.state == projects::StreamState::Fractions; }

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

    const MultiStream m_wiring;
    const projects::StreamSizes m_sizes;
    const Compute m_compute;
    const Connections m_raw; ///< `read` of copies is [L, n]
    /// For dynamic weights, of L modules.
    const at::Tensor m_norm;    ///< [L, w]; of permutations [L, n, d]; undefined if the norm has no gain of its own
    const at::Tensor m_bias;    ///< [L, w], of fractions
    const at::Tensor m_dynamic; ///< [L, R + n + 1, w]; with a constraint φ: [L, n, logits, d]
    const at::Tensor m_scale;   ///< s_α, s_β; with a constraint α of read, carry (but not of the identity) and write
    std::vector<at::Tensor> m_rows;   ///< of each layer in this pass, with the gain of the norm
    std::vector<at::Tensor> m_scales; ///< of each layer

private:
    /// Returns the mixes of a module, or of the exit as a read, in this pass and under its alteration.
    [[nodiscard]] StreamMixes routing(std::size_t module, const DepthStack& stack)
    {
        const projects::Alteration* const alteration = m_pass->alteration.get();
        StackBorders* const borders = m_pass->borders;
        const bool isFrozen = alteration != nullptr && alteration->frozenRouting;
        const auto* const kept = isFrozen && borders != nullptr ? borders->keptRouting(module) : nullptr;
        TORCH_CHECK(!isFrozen || kept != nullptr, "the unaltered pass has not kept the weights of the streams");
        StreamMixes mixes = kept != nullptr       ? StreamMixes{kept->first, kept->second}
                            : module == m_modules ? StreamMixes{exit(stack), {}}
                                                  : of(module, stack);
        if (alteration == nullptr) {
            if (borders != nullptr) {
                borders->keepRouting(module, mixes.read, mixes.write);
            }
            return mixes;
        }
        const auto number = static_cast<std::int64_t>(module) + 1;
        for (const projects::ReplacedTransitions& by : alteration->transitions) {
            if (module < m_modules && by.first <= number && number <= by.last) {
                mixes.write = withTransition(std::move(mixes.write), m_wiring.streams, by, *m_pass);
            }
        }
        return mixes;
    }

    /// Returns the mix [1, n] of the streams after the last module, the first n entries of `stack`, that is the output.
    [[nodiscard]] MixWeights exit(const DepthStack& stack) const
    {
        MixWeights weights;
        if (!m_exit.defined()) {
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

    [[nodiscard]] at::TensorOptions options() const
    {
        return at::TensorOptions(m_compute.device).dtype(m_compute.parameterType);
    }
    /// The weight of every stream in a sum or a mean.
    [[nodiscard]] double plainExit() const
    {
        return m_wiring.exit == projects::StreamExit::Mean ? 1.0 / static_cast<double>(m_wiring.streams) : 1;
    }
    /// The learned numbers of the matrices with the layers last.
    [[nodiscard]] at::Tensor carryLast() const
    {
        return m_raw.carry.defined() ? m_raw.carry.movedim(0, -1) : identity(static_cast<std::int64_t>(m_modules));
    }

    std::int64_t m_layers;
    std::size_t m_modules;
    at::Tensor m_permutations; ///< [n!, in·out]
    at::Tensor m_identity;     ///< [n, n], where streams do not mix
    at::Tensor m_plainExit;    ///< [1, n], of a sum or a mean
    at::Tensor m_exit;         ///< φ_h: [stream, n, d]
    at::Tensor m_exitBias;
    at::Tensor m_exitScale;
    std::vector<at::Tensor> m_read;  ///< of each layer: [R, n]
    std::vector<at::Tensor> m_write; ///< of each layer: [n, n + R]
    MixWeights m_following;          ///< of the write of the module that runs
    const Pass* m_pass = nullptr;    ///< the pass that runs
};

/// Dynamic Hyper-Connections: s·tanh(norm(H)·W) is added to the static weights (eq. 10-13). W has a row for each read,
/// a row for each stream after the layer, and a row for the factor of the write. With v = w ∘ gain, the
/// root-mean-square norm gives norm(x)·w = rstd·(x·v) and the layer norm rstd·(x·(v − mean v)), so that normalised
/// streams are not stored. The norm of Frac-Connections has a bias.
class DynamicWeights final : public StreamRule {
public:
    using StreamRule::StreamRule;

    void prepare() override
    {
        StreamRule::prepare();
        at::Tensor rows = m_dynamic * m_norm.unsqueeze(1);
        // LayerNorm also needs the sum of the features, computed by one more row.
        if (m_wiring.norm == projects::NormKind::Layer) {
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
        const std::int64_t n = m_wiring.streams;
        const std::int64_t reads = m_sizes.reads;
        std::vector<at::Tensor> parts;
        for (std::size_t stream = 0; stream < static_cast<std::size_t>(n); ++stream) {
            const at::Tensor part = normalised(stack.entry(stream), m_rows[layer]);
            parts.push_back(m_bias.defined() ? part + m_offsets[layer] : part);
        }
        const at::Tensor active = at::tanh(at::stack(parts)); // [n, R + n + 1, N]
        const at::Tensor alpha = active.narrow(1, 0, reads + n) * m_scales[layer][0];
        const at::Tensor beta = active.select(1, reads + n) * m_scales[layer][1];
        StreamMixes mixes = StreamRule::of(layer, stack);
        mixes.read.gateKind = mixes.write.gateKind = kernels::GateKind::token;
        mixes.read.tokenWeights = alpha.narrow(1, 0, reads).transpose(0, 1).contiguous();
        mixes.write.tokenWeights = joined(alpha.narrow(1, reads, n), beta);
        return mixes;
    }

private:
    /// The rows times the normalised stream: [R + n + 1, N].
    [[nodiscard]] at::Tensor normalised(const at::Tensor& stream, const at::Tensor& rows) const
    {
        const auto w = static_cast<double>(m_sizes.width);
        const at::Tensor length = norm(stream);
        const at::Tensor products = product(stream, rows);
        if (m_wiring.norm == projects::NormKind::Rms) {
            return products * at::rsqrt(length * length / w + projects::streamNormEpsilon(m_wiring));
        }
        const at::Tensor mean = products.select(0, m_sizes.logits) / w;
        const at::Tensor variance = (length * length / w - mean * mean).clamp_min(0);
        return products.narrow(0, 0, m_sizes.logits) * at::rsqrt(variance + kLayerNormEpsilon);
    }

    std::vector<at::Tensor> m_offsets; ///< of each layer: [R + n + 1, 1], what the bias gives
};

/// mHC, identity hyper-connections and mHC-lite: all n·d features of a token give its weights, which are the constraint
/// applied to α·(norm(vec x)·φ) + b. φ contains the norm's gain (mHC, section 4.3.1), except in mHC-lite. The rows of φ
/// are n to read, those of the mixing matrix, and n to write.
class ConstrainedWeights final : public StreamRule {
public:
    using StreamRule::StreamRule;

    void prepare() override
    {
        m_rows = (m_norm.defined() ? m_dynamic * m_norm.unsqueeze(2) : m_dynamic).unbind(0);
        m_scales = m_scale.unbind(0);
        m_reads = readOfStreams().unbind(0);
        m_writes = m_raw.write.unbind(0);
        if (m_raw.carry.defined()) {
            m_carries = m_raw.carry.unbind(0);
        }
    }

    [[nodiscard]] StreamMixes of(std::size_t layer, const DepthStack& stack) const override
    {
        const std::int64_t n = m_wiring.streams;
        const at::Tensor y = ofAllFeatures(stack, m_rows[layer].unbind(0));
        const at::Tensor& scale = m_scales[layer];
        Connections logits;
        logits.read = y.narrow(0, 0, n) * scale[0] + m_reads[layer];
        if (m_sizes.carry > 0) {
            const at::Tensor& all = m_carries[layer];
            logits.carry = y.narrow(0, n, m_sizes.carry) * scale[1] + all.reshape({-1, 1});
            logits.carry = all.dim() == 2 ? logits.carry.view({n, n, -1}) : logits.carry;
        } else {
            logits.carry = identity(y.size(1));
        }
        logits.write = y.narrow(0, n + m_sizes.carry, n) * scale[-1] + m_writes[layer].unsqueeze(1);
        const Connections applied = constrained(logits);
        StreamMixes mixes;
        mixes.read.weightKind = mixes.write.weightKind = kernels::WeightKind::none;
        mixes.read.gateKind = mixes.write.gateKind = kernels::GateKind::token;
        mixes.read.tokenWeights = applied.read.unsqueeze(0);
        mixes.write.tokenWeights = joined(applied.carry, applied.write);
        return mixes;
    }

private:
    std::vector<at::Tensor> m_reads; ///< [n, 1]
    std::vector<at::Tensor> m_carries;
    std::vector<at::Tensor> m_writes;
};

} // namespace

std::vector<double> StreamTerms::numbers(const at::Tensor& exit) const
{
    const at::Tensor modules = at::cat({read.flatten(1), write.flatten(1)}, 1);
    return hostNumbers(at::cat({modules.flatten(), exit}));
}

StreamTerms streamTerms(const at::Tensor& read, const at::Tensor& carry, const at::Tensor& write)
{
    const at::Tensor branch = read.size(2) > 1 ? at::diag_embed(write) : write.unsqueeze(2);
    return {read.transpose(1, 2).contiguous(), at::cat({carry.transpose(1, 2), branch}, 2)};
}

DepthRuleResult makeRule(const MultiStream& wiring, LayerStack& layers, std::int64_t width, InitPlan& plan)
{
    using Made = std::unique_ptr<DepthRule>;
    const WiringTensors tensors(projects::parametersOf(wiring, static_cast<std::int64_t>(layers.rowLayers()), width),
                                plan);
    if (wiring.weights == projects::StreamWeights::Static) {
        return Made(std::make_unique<StreamRule>(wiring, layers, width, tensors, plan.compute()));
    }
    if (wiring.constraint == StreamConstraint::None) {
        return Made(std::make_unique<DynamicWeights>(wiring, layers, width, tensors, plan.compute()));
    }
    return Made(std::make_unique<ConstrainedWeights>(wiring, layers, width, tensors, plan.compute()));
}

} // namespace residua::engine
