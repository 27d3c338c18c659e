// SPDX-License-Identifier: GPL-3.0-or-later
// Multi-stream residuals: Hyper-Connections (Zhu et al., 2024, eq. 2-14), mHC (Xie et al., 2025, eq. 7-9), identity
// hyper-connections (Hy4), mHC-lite and Frac-Connections. The n streams are copies of the input or fractions of its
// features. A module's write and the next module's norm, logits and read are one function (ops/streams.h), with R
// reads: 1 of copies, n of fractions. Under an alteration, reads and writes are mixes of n and n + R entries on the
// mixing path instead. Arrays over tokens have the token last, as the kernels take them.
//
// At the start of Hyper-Connections every stream is the plain network's residual, to the bit, and so is the residual of
// Frac-Connections; under mHC up to rounding.
#include "engine/base/api/matrix_name.h"
#include "engine/compute/depth/altered_streams.h"
#include "engine/compute/depth/depth_rule.h"
#include "engine/compute/depth/stack_borders.h"
#include "engine/compute/ops/operators.h"
#include "engine/compute/ops/streams.h"
#include "projects/depth/stream_start.h"
#include "projects/depth/unrolled_depth.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/diag_embed.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

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

/// The connections of all layers that tokens share: read [L, n, R], carry [L, in, out] and write [L, n]. Before the
/// constraint, carry can be logits, or undefined for the identity, and read has no R for copies.
struct Connections {
    at::Tensor read;
    at::Tensor carry;
    at::Tensor write;
};

/// A read that the write before it has computed.
struct StreamAhead {
    std::size_t row = 0; ///< of the read
    StreamResults results;
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
        m_ahead.reset();
        prepare();
    }

    /// Computes what all modules of the pass share.
    virtual void prepare()
    {
        const Connections applied = shared();
        const StreamTerms terms = streamTerms(applied.read, applied.carry, applied.write);
        m_read = terms.read.unbind(0);
        m_write = terms.write.unbind(0);
    }

    /// The weights of a module's read and write are computed from the streams that it reads. The read of an even row
    /// follows the write of the row before, which computes it unless the pass is altered.
    [[nodiscard]] std::vector<at::Tensor> mix(const projects::DepthStep& step, const MixInputs& inputs,
                                              DepthStack* stack) override
    {
        const std::size_t module = step.row / 2;
        if (m_pass->alteration != nullptr) {
            if (step.row % 2 != 0) {
                return mixRows(*stack, std::exchange(m_following, {}), inputs, step.outputs);
            }
            return mixRows(*stack, alteredRouting(module, inputs), inputs, step.outputs);
        }
        if (step.row % 2 != 0) {
            return write(inputs);
        }
        std::optional<StreamAhead> ahead = std::exchange(m_ahead, std::nullopt);
        if (!ahead || ahead->row != step.row) {
            StreamSite site = readSite(module);
            site.streams.assign(inputs.values.begin(), inputs.values.end());
            ahead = StreamAhead{step.row, streamSite(m_compute, site)};
        }
        if (module < m_modules) {
            m_following = writeOf(module, ahead->results.y);
        }
        if (m_pass->borders != nullptr && m_pass->borders->wantsRouting()) {
            m_pass->borders->keepRouting(module, readMix(module, ahead->results.y), m_following);
        }
        return std::move(ahead->results.reads);
    }

    /// "mix": with what weight each branch reaches each later layer through the streams, as the paper unfolds it
    /// (section 4.5), and the exit; of fractions the mean over them of how a fraction reaches itself. "read", "write":
    /// layers by streams. "carry", of fractions "read" too: of each layer n rows, from stream, by n columns, to stream.
    /// What depends on the token is not in them.
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        const at::NoGradGuard noGrad;
        const Connections applied = shared();
        const at::Tensor exit =
            m_exit.defined() ? at::sigmoid(m_exitBias) + projects::kStreamEpsilon : m_plainExit.flatten();
        const std::vector<double> weights = streamTerms(applied.read, applied.carry, applied.write).numbers(exit);
        const projects::UnrolledDepth sums =
            projects::unrolled(projects::programOf(m_wiring, m_layers), {1, weights}, projects::Granularity::Module);
        const auto matrix = [&](const char* name, const at::Tensor& tensor) {
            const std::vector<double> values = hostNumbers(tensor);
            const std::int64_t n = m_wiring.streams;
            return Matrix{name, step, tensor.numel() / n, n, {values.begin(), values.end()}};
        };
        return {mixMatrix(sums, step), matrix(matrix::kStreamRead, applied.read),
                matrix(matrix::kStreamCarry, applied.carry), matrix(matrix::kStreamWrite, applied.write)};
    }

protected:
    /// Returns the read of module `module` (from 0) as a site without streams.
    [[nodiscard]] virtual StreamSite readOf(std::size_t module) const
    {
        StreamSite site;
        site.reads = m_sizes.reads;
        site.base = m_read[module];
        return site;
    }
    /// Returns the weights [n, n + R] of the write of module `module`, for the logits of its streams: from the old
    /// streams (A_r, H_res) and the branch (B, H_post) to the new streams.
    [[nodiscard]] virtual MixWeights writeOf(std::size_t module, const at::Tensor& /*y*/) const
    {
        MixWeights write;
        write.weights = m_write[module];
        return write;
    }

    /// The learned numbers of the reads, [L, n, R]. Not kept, because a view would keep its gradient's node.
    [[nodiscard]] at::Tensor readOfStreams() const { return isCut() ? m_raw.read : m_raw.read.unsqueeze(2); }
    [[nodiscard]] bool isCut() const { return m_wiring.state == projects::StreamState::Fractions; }

    /// Apply the wiring's constraint to numbers of reads, matrices and writes. The layers or tokens are the last
    /// dimension of the matrices: [in, out, …], or of permutations the logits [n!, …].
    [[nodiscard]] at::Tensor boundRead(const at::Tensor& raw) const
    {
        const bool isFree = m_wiring.constraint == StreamConstraint::None;
        const at::Tensor bound = isFree ? raw : at::sigmoid(raw);
        return epsilon() == 0 ? bound : bound + epsilon();
    }
    [[nodiscard]] at::Tensor boundCarry(const at::Tensor& raw) const
    {
        const std::int64_t n = m_wiring.streams;
        if (m_wiring.constraint == StreamConstraint::Permutations) {
            return at::mm(m_permutations.t(), at::softmax(raw, 0)).view({n, n, raw.size(1)});
        }
        const bool isStochastic = m_wiring.constraint == StreamConstraint::DoublyStochastic;
        return isStochastic ? sinkhorn(raw, m_wiring.sinkhornIterations) : raw;
    }
    [[nodiscard]] at::Tensor boundWrite(const at::Tensor& raw) const
    {
        const bool isFree = m_wiring.constraint == StreamConstraint::None;
        const at::Tensor bound = isFree ? raw : at::sigmoid(raw) * 2;
        return epsilon() == 0 ? bound : bound + epsilon();
    }
    /// The constant that the constraint adds to reads and writes.
    [[nodiscard]] double epsilon() const
    {
        return m_wiring.constraint == StreamConstraint::Identity ? projects::kStreamEpsilon : 0;
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

    /// Sets the norm of all features of a token, whose logits are the products with `rows`.
    void normAll(StreamSite& site, const at::Tensor& rows) const
    {
        site.norm = kernels::StreamNorm::all;
        site.eps = projects::streamNormEpsilon(m_wiring);
        site.rows = rows;
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
    /// Writes the branch to the streams and computes the read that follows, if it is to be computed here.
    std::vector<at::Tensor> write(const MixInputs& inputs)
    {
        StreamSite site = inputs.following ? readSite(*inputs.following / 2) : StreamSite();
        const MixWeights weights = std::exchange(m_following, {});
        const auto branch = inputs.values.begin() + m_wiring.streams;
        site.streams.assign(inputs.values.begin(), branch);
        site.branches.assign(branch, inputs.values.end());
        site.weights = weights.weights;
        site.tokenWeights = weights.tokenWeights;
        StreamResults results = streamSite(m_compute, site);
        std::vector<at::Tensor> streams = std::move(results.streams);
        if (inputs.following) {
            m_ahead = StreamAhead{*inputs.following, std::move(results)};
        }
        return streams;
    }

    /// Returns the read of a module or of the exit as a site without streams.
    [[nodiscard]] StreamSite readSite(std::size_t module) const
    {
        return module == m_modules ? exitSite() : readOf(module);
    }
    /// Returns a read as a mix, for the logits of its streams.
    [[nodiscard]] MixWeights readMix(std::size_t module, const at::Tensor& y) const
    {
        const StreamSite site = readSite(module);
        MixWeights mix;
        if (site.read == kernels::StreamRead::fixed) {
            mix.weights = site.base;
        } else {
            mix.weightKind = kernels::WeightKind::none;
            mix.gateKind = kernels::GateKind::token;
            mix.tokenWeights = readWeights(site, m_wiring.streams, y).contiguous();
        }
        return mix;
    }

    /// Returns the mix of the read of a module or of the exit under the pass's alteration, and keeps that of its write.
    [[nodiscard]] MixWeights alteredRouting(std::size_t module, const MixInputs& inputs)
    {
        const projects::Alteration& alteration = *m_pass->alteration;
        StackBorders* const borders = m_pass->borders;
        MixWeights read;
        if (alteration.frozenRouting) {
            const auto* const kept = borders != nullptr ? borders->keptRouting(module) : nullptr;
            TORCH_CHECK(kept != nullptr, "the unaltered pass has not kept the weights of the streams");
            std::tie(read, m_following) = *kept;
        } else {
            StreamSite site = readSite(module);
            const at::Tensor y = logitsOf(std::move(site), inputs);
            read = readMix(module, y);
            m_following = module < m_modules ? writeOf(module, y) : MixWeights();
        }
        const auto number = static_cast<std::int64_t>(module) + 1;
        for (const projects::ReplacedTransitions& by : alteration.transitions) {
            if (module < m_modules && by.first <= number && number <= by.last) {
                m_following = withTransition(std::move(m_following), m_wiring.streams, by, *m_pass);
            }
        }
        return read;
    }
    /// Returns the logits of a site for given streams; undefined if it has none.
    [[nodiscard]] at::Tensor logitsOf(StreamSite site, const MixInputs& inputs) const
    {
        if (!site.rows.defined()) {
            return {};
        }
        site.streams.assign(inputs.values.begin(), inputs.values.end());
        site.reads = 0;
        site.read = kernels::StreamRead::fixed;
        return streamSite(m_compute, site).y;
    }

    /// Returns the read [1, n] of the streams after the last module, which is the output.
    [[nodiscard]] StreamSite exitSite() const
    {
        StreamSite site;
        site.reads = 1;
        if (!m_exit.defined()) {
            site.base = m_plainExit;
            return site;
        }
        normAll(site, m_exit);
        site.read = kernels::StreamRead::sigmoid;
        site.bias = m_exitBias.unsqueeze(0);
        site.gain = m_exitScale.squeeze(0);
        site.constant = projects::kStreamEpsilon;
        return site;
    }

    /// Returns the connections that tokens share, under the constraint.
    [[nodiscard]] Connections shared() const
    {
        return {boundRead(readOfStreams()), boundCarry(carryLast()).movedim(-1, 0), boundWrite(m_raw.write)};
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
    std::optional<StreamAhead> m_ahead;
    const Pass* m_pass = nullptr; ///< the pass that runs
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
        const at::Tensor rows = m_dynamic * m_norm.unsqueeze(1);
        m_rows = (isCentred() ? rows - rows.mean(2, true) : rows).unbind(0);
        if (m_bias.defined()) {
            m_offsets = (m_dynamic * m_bias.unsqueeze(1)).sum(2).unbind(0);
        }
        m_scales = m_scale.unbind(0);
    }

    [[nodiscard]] StreamSite readOf(std::size_t module) const override
    {
        StreamSite site = StreamRule::readOf(module);
        site.norm = isCentred() ? kernels::StreamNorm::centred : kernels::StreamNorm::each;
        site.eps = isCentred() ? kLayerNormEpsilon : projects::streamNormEpsilon(m_wiring);
        site.rows = m_rows[module];
        site.read = kernels::StreamRead::tanh;
        site.factor = m_scales[module][0];
        if (m_bias.defined()) {
            site.bias = m_offsets[module].narrow(0, 0, m_sizes.reads).unsqueeze(1).expand({-1, m_wiring.streams});
        }
        return site;
    }

    [[nodiscard]] MixWeights writeOf(std::size_t module, const at::Tensor& y) const override
    {
        const std::int64_t n = m_wiring.streams;
        at::Tensor logits = y.narrow(1, m_sizes.reads, n + 1); // [n, n + 1, N]
        if (m_bias.defined()) {
            logits = logits + m_offsets[module].narrow(0, m_sizes.reads, n + 1).unsqueeze(1);
        }
        const at::Tensor active = at::tanh(logits);
        MixWeights write = StreamRule::writeOf(module, y);
        write.gateKind = kernels::GateKind::token;
        write.tokenWeights =
            joined(active.narrow(1, 0, n) * m_scales[module][0], active.select(1, n) * m_scales[module][1]);
        return write;
    }

private:
    [[nodiscard]] bool isCentred() const { return m_wiring.norm == projects::NormKind::Layer; }

    std::vector<at::Tensor> m_offsets; ///< of each layer: [R + n + 1], what the bias gives
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

    [[nodiscard]] StreamSite readOf(std::size_t module) const override
    {
        StreamSite site;
        normAll(site, m_rows[module]);
        site.reads = 1;
        site.read = kernels::StreamRead::sigmoid;
        site.bias = m_reads[module].t();
        site.gain = m_scales[module][0];
        site.constant = epsilon();
        return site;
    }

    [[nodiscard]] MixWeights writeOf(std::size_t module, const at::Tensor& y) const override
    {
        const std::int64_t n = m_wiring.streams;
        const at::Tensor& scale = m_scales[module];
        at::Tensor carry;
        if (m_sizes.carry > 0) {
            const at::Tensor& all = m_carries[module];
            carry = y.narrow(0, n, m_sizes.carry) * scale[1] + all.reshape({-1, 1});
            carry = boundCarry(all.dim() == 2 ? carry.view({n, n, -1}) : carry);
        } else {
            carry = identity(y.size(1));
        }
        const at::Tensor write = y.narrow(0, n + m_sizes.carry, n) * scale[-1] + m_writes[module].unsqueeze(1);
        MixWeights weights;
        weights.weightKind = kernels::WeightKind::none;
        weights.gateKind = kernels::GateKind::token;
        weights.tokenWeights = joined(carry, boundWrite(write));
        return weights;
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
