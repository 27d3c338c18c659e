// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/attention.h"

#include "engine/graph/value_residual.h"
#include "engine/ops/joined_linear.h"
#include "engine/runtime/fixed_bits.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <cmath>
#include <limits>

namespace residua::engine {
namespace {

using projects::paramBool;
using projects::paramDouble;

constexpr double kHeadNormEpsilon = 1e-6;

struct Projection {
    at::Tensor weight; ///< [out, in]
    at::Tensor bias;   ///< [out], or undefined
};

struct AttentionOptions {
    projects::AttentionSizes sizes;
    bool causal = true;
    double dropout = 0;
};

/// softmax(q·kᵀ/√e)·v with weights dropped at random; [batch, heads, time, e], fewer heads in k and v where they are
/// shared. On the host LibTorch's own, where it drops any, gives gradients that depend on the number of threads.
at::Tensor attendDropping(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool causal, double rate)
{
    const at::ScalarType type = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const std::int64_t shared = q.size(1) / k.size(1);
    const auto each = [&](const at::Tensor& x) { return (shared == 1 ? x : x.repeat_interleave(shared, 1)).to(type); };
    const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
    at::Tensor scores = at::matmul(q.to(type) * scale, each(k).transpose(2, 3));
    if (causal) {
        const at::Tensor later = at::ones({q.size(2), k.size(2)}, scores.options().dtype(at::kBool)).triu(1);
        scores = scores.masked_fill(later, -std::numeric_limits<double>::infinity());
    }
    return at::matmul(at::dropout(engine::softmax(scores, -1), rate, true), each(v)).to(q.scalar_type());
}

class AttentionOperator final : public Operator, public ValueUser {
public:
    explicit AttentionOperator(const NodeContext& node) : m_compute(node.plan.compute())
    {
        const std::int64_t width = node.features();
        m_options.sizes = projects::attentionSizesOf(node.params, width);
        m_options.causal = paramBool(node.params, "causal");
        m_options.dropout = paramDouble(node.params, "dropout");
        const auto& [heads, kvHeads, headDim] = m_options.sizes;
        m_query = projection(node, "q", heads * headDim, width);
        m_key = projection(node, "k", kvHeads * headDim, width);
        m_value = projection(node, "v", kvHeads * headDim, width);
        m_out = {node.outputMatrix("out.weight", {width, heads * headDim}), biasOf(node, "out", width)};
        if (paramBool(node.params, "qk_norm")) {
            m_queryNorm = node.parameter("q_norm.weight", {headDim}, Role::Gain);
            m_keyNorm = node.parameter("k_norm.weight", {headDim}, Role::Gain);
        }
        if (paramBool(node.params, "rope")) {
            m_rotary = node.rotaryTables.get(m_compute, headDim, paramDouble(node.params, "rope_base"));
        }
        const bool plain = !m_query.bias.defined() && !m_queryNorm.defined() && heads == kvHeads;
        if (plain && m_compute.device.is_cpu()) {
            m_weights = {m_query.weight, m_key.weight, m_value.weight};
            m_joined = joinRows(m_weights);
        }
    }

    [[nodiscard]] at::Tensor run(const Inputs& in, const Pass& pass) const override
    {
        if (m_joined.defined() && !m_values && (!pass.training() || m_options.dropout == 0)) {
            return project(runJoined(in), m_out);
        }
        const auto& [heads, kvHeads, headDim] = m_options.sizes;
        const at::Tensor q = position(split(project(in[0], m_query), heads), m_queryNorm);
        const at::Tensor k = position(split(project(in[1], m_key), kvHeads), m_keyNorm);
        const at::Tensor own = split(project(in[2], m_value), kvHeads);
        const at::Tensor v = m_values ? m_values->use(m_layer, own) : own;
        const double dropout = pass.training() ? m_options.dropout : 0.0;
        const bool drops = dropout > 0 && q.is_cpu();
        const at::Tensor mixed =
            drops ? attendDropping(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), m_options.causal, dropout)
                  : at::scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2),
                                                     std::nullopt, dropout, m_options.causal, std::nullopt,
                                                     /*enable_gqa=*/heads != kvHeads);
        return project(mixed.transpose(1, 2).flatten(2), m_out);
    }

    [[nodiscard]] std::string valueShape() const override
    {
        return std::to_string(m_options.sizes.kvHeads) + " heads of " + std::to_string(m_options.sizes.headDim) +
               " features";
    }
    void share(std::shared_ptr<ValueResidual> values, std::size_t layer) override
    {
        m_values = std::move(values);
        m_layer = layer;
    }

private:
    /// The projections, the rotation and the attention as one function.
    [[nodiscard]] at::Tensor runJoined(const Inputs& in) const
    {
        const at::ScalarType type = m_compute.activationType;
        const bool same = in[0].is_same(in[1]) && in[0].is_same(in[2]);
        ProjectedAttention attention;
        for (std::size_t part = 0; part < 3; ++part) {
            attention.inputs[part] = same && part > 0 ? attention.inputs[0] : in[part].to(type);
            attention.weights[part] = m_weights[part];
        }
        attention.joined = m_joined;
        attention.heads = m_options.sizes.heads;
        attention.causal = m_options.causal;
        attention.angles = m_rotary ? &m_rotary->upTo(in[0].size(1)) : nullptr;
        return projectedAttention(attention);
    }

    static Projection projection(const NodeContext& node, const std::string& name, std::int64_t out, std::int64_t in)
    {
        return {node.parameter(name + ".weight", {out, in}, Role::Matrix), biasOf(node, name, out)};
    }
    /// Undefined where the node has none.
    static at::Tensor biasOf(const NodeContext& node, const std::string& name, std::int64_t out)
    {
        return paramBool(node.params, "bias") ? node.parameter(name + ".bias", {out}, Role::Bias) : at::Tensor();
    }

    [[nodiscard]] at::Tensor project(const at::Tensor& x, const Projection& by) const
    {
        return linear(m_compute, x, by.weight, by.bias);
    }

    /// [batch, time, heads · headDim] to [batch, time, heads, headDim].
    [[nodiscard]] at::Tensor split(const at::Tensor& x, std::int64_t heads) const
    {
        return x.view({x.size(0), x.size(1), heads, m_options.sizes.headDim});
    }

    /// The head's norm and the rotation, where they are wanted.
    [[nodiscard]] at::Tensor position(at::Tensor x, const at::Tensor& norm) const
    {
        if (norm.defined()) {
            x = rmsNorm(x, norm, kHeadNormEpsilon);
        }
        return m_rotary ? rotary(x, m_rotary->upTo(x.size(1))) : x;
    }

    Compute m_compute;
    AttentionOptions m_options;
    Projection m_query;
    Projection m_key;
    Projection m_value;
    Projection m_out;
    at::Tensor m_queryNorm;
    at::Tensor m_keyNorm;
    std::shared_ptr<RotaryTable> m_rotary;
    std::vector<at::Tensor> m_weights;       ///< of q, k and v, where they are joined
    at::Tensor m_joined;                     ///< undefined where they are not
    std::shared_ptr<ValueResidual> m_values; ///< null where the values are the attention's own
    std::size_t m_layer = 0;
};

} // namespace

OperatorResult buildAttention(const NodeContext& node)
{
    return OperatorResult(std::make_unique<AttentionOperator>(node));
}

} // namespace residua::engine
