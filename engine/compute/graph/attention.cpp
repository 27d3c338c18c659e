// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/graph/node_builder.h"

#include "engine/compute/graph/row_layout.h"
#include "engine/compute/graph/value_residual.h"
#include "engine/compute/init/parameter_fits.h"
#include "engine/compute/init/weight_inputs.h"
#include "engine/compute/ops/joined_linear.h"
#include "engine/compute/ops/norm.h"
#include "engine/compute/ops/operators.h"
#include "engine/compute/ops/part_selection.h"
#include "engine/compute/runtime/host_path.h"
#include "projects/nodes/attention_features.h"
#include "projects/nodes/attention_options.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace residua::engine {
namespace {

using projects::paramBool;
using projects::paramDouble;
using projects::paramInt;

struct Projection {
    Weight weight;
    at::Tensor bias; ///< [out], or undefined
};

/// Converts projected queries and keys into those of the attention: heads, norms and positions. A value; copies share
/// tensors and tables.
struct HeadShape {
    std::int64_t headDim = 1;
    projects::QkNorm norm = projects::QkNorm::None;
    at::Tensor queryNorm; ///< [headDim], or [heads · headDim] over all heads; undefined without a norm
    at::Tensor keyNorm;
    double epsilon = 0;                  ///< of the norms
    std::shared_ptr<RotaryTable> rotary; ///< null without a rotary embedding

    /// Converts [batch, time, heads · headDim] to [batch, time, heads, headDim].
    [[nodiscard]] at::Tensor split(const at::Tensor& x) const { return x.view({x.size(0), x.size(1), -1, headDim}); }
    [[nodiscard]] at::Tensor queries(const at::Tensor& x) const { return position(normed(x, queryNorm)); }
    [[nodiscard]] at::Tensor keys(const at::Tensor& x) const { return position(normed(x, keyNorm)); }

private:
    /// Applies the norm and returns the result split into heads, even for a norm over all heads.
    [[nodiscard]] at::Tensor normed(const at::Tensor& x, const at::Tensor& weight) const
    {
        switch (norm) {
        case projects::QkNorm::Head:
            return rmsNorm(split(x), weight, epsilon);
        case projects::QkNorm::AllHeads:
            return split(rmsNorm(x, weight, epsilon));
        case projects::QkNorm::None:
            break;
        }
        return split(x);
    }
    /// Counts from the beginning of the row, also in rows of several documents: scores depend on differences alone.
    [[nodiscard]] at::Tensor position(const at::Tensor& x) const
    {
        return rotary ? engine::rotary(x, rotary->upTo(x.size(1))) : x;
    }
};

struct AttentionOptions : Sight {
    double dropout = 0;

    [[nodiscard]] bool bounds(std::int64_t time) const { return window > 0 && window < time; }
};

/// The heads that run, with their weights: all, or of each projection the rows and columns of the heads that run.
struct Heads {
    projects::AttentionSizes sizes;
    HeadShape shape;
    Projection query;
    Projection key;
    Projection value;
    Projection out;
    std::vector<at::Tensor> weights; ///< of q, k and v of all heads, if they are joined
    at::Tensor joined;               ///< undefined unless they are joined
    std::vector<at::Tensor> biases;  ///< likewise, if biases exist
    at::Tensor joinedBias;
    PartRuns kept;       ///< the rows of each joined weight that run
    at::Tensor factors;  ///< [heads · headDim], the factors of the heads' outputs; undefined: all 1
    at::Tensor features; ///< [kvHeads, r, headDim] of the weights' kernel; undefined: softmax
};

/// Returns the term [batch or 1, 1, queries, keys] to add to the scores: 0 for a key that the query sees. `mask` is
/// [batch, keys], 0 for padding, or undefined. `rows` may be null.
at::Tensor scoreTerm(const Sight& sight, const at::Tensor& mask, RowLayout* rows, const at::Tensor& like,
                     std::int64_t time)
{
    if (rows != nullptr && !mask.defined()) {
        return rows->term(sight, time, like.scalar_type());
    }
    at::Tensor hidden = at::zeros({1, 1, time, time}, like.options().dtype(at::kBool));
    if (rows != nullptr) {
        hidden = rows->hidden(sight, time);
    } else if (sight.causal) {
        hidden = seenKeys(time, time, 0, sight.window, like.options()).logical_not().view({1, 1, time, time});
    }
    if (mask.defined()) {
        hidden = hidden.logical_or(mask.eq(0).view({mask.size(0), 1, 1, time}));
    }
    return scoreTermOf(hidden, like.options());
}

/// softmax(q·kᵀ/√e + term)·v; [batch, heads, time, e], with fewer heads in k and v if they are shared. `term` is
/// undefined if all keys are seen. `dropped` leaves out weights. Used on the host because the gradients of LibTorch's
/// own version with dropout depend on the number of threads, and its draws on the batch.
at::Tensor attendDropping(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& term,
                          const std::function<at::Tensor(const at::Tensor&)>& dropped)
{
    const at::ScalarType type = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const std::int64_t shared = q.size(1) / k.size(1);
    const auto each = [&](const at::Tensor& x) { return (shared == 1 ? x : x.repeat_interleave(shared, 1)).to(type); };
    const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
    at::Tensor scores = at::matmul(q.to(type) * scale, each(k).transpose(2, 3));
    if (term.defined()) {
        scores = scores + term;
    }
    return at::matmul(dropped(at::softmax(scores, -1)), each(v)).to(q.scalar_type());
}

/// softmax(q·kᵀ/√e)·v for a window smaller than the sequence. Processes the queries in blocks, each with the keys that
/// any of its queries sees, so that work and memory grow with the window instead of the length.
at::Tensor attendWithin(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, std::int64_t window,
                        double dropout, bool sharesHeads)
{
    constexpr std::int64_t kLeast = 64; // queries
    const std::int64_t time = q.size(2);
    const std::int64_t length = std::min(time, std::max(kLeast, window / 4));
    const std::int64_t before = window - 1; // keys before its own that the first query of a block sees
    const at::Tensor hidden = seenKeys(length, before + length, before, window, q.options()).logical_not();
    const at::Tensor mask =
        at::zeros(hidden.sizes(), q.options()).masked_fill(hidden, -std::numeric_limits<double>::infinity());
    std::vector<at::Tensor> blocks;
    for (std::int64_t first = 0; first < time; first += length) {
        const std::int64_t queries = std::min(length, time - first);
        const std::int64_t from = std::max<std::int64_t>(first - before, 0);
        const std::int64_t keys = first + queries - from;
        const at::Tensor part = mask.narrow(0, 0, queries).narrow(1, before - (first - from), keys);
        blocks.push_back(at::scaled_dot_product_attention(q.narrow(2, first, queries), k.narrow(2, from, keys),
                                                          v.narrow(2, from, keys), part, dropout, /*is_causal=*/false,
                                                          std::nullopt, sharesHeads));
    }
    return at::cat(blocks, 2);
}

/// Returns the attention of each document alone, without computing what it would hide. `documents` are the numbers of
/// tokens, row by row. `attend` is that of a batch of one.
template <class Attend>
at::Tensor attendApart(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                       const std::vector<std::int64_t>& documents, const Attend& attend)
{
    const auto parts = [&](const at::Tensor& x) { return x.transpose(1, 2).flatten(0, 1).split_with_sizes(documents); };
    const auto alone = [](const at::Tensor& x) { return x.transpose(0, 1).unsqueeze(0); };
    const std::vector<at::Tensor> queries = parts(q);
    const std::vector<at::Tensor> keys = parts(k);
    const std::vector<at::Tensor> values = parts(v);
    std::vector<at::Tensor> results;
    for (std::size_t i = 0; i < documents.size(); ++i) {
        results.push_back(attend(alone(queries[i]), alone(keys[i]), alone(values[i])).squeeze(0).transpose(0, 1));
    }
    return at::cat(results).view({q.size(0), q.size(2), q.size(1), -1}).transpose(1, 2);
}

class AttentionOperator final : public Operator, public ValueUser {
public:
    explicit AttentionOperator(const NodeContext& node)
        : m_compute(node.plan.compute()), m_name(node.prefix()), m_stream(streamKey(0, m_name))
    {
        const std::int64_t width = node.features();
        m_heads.sizes = projects::attentionSizesOf(node.params, width);
        m_node = static_cast<std::uint64_t>(node.node.id);
        m_options.causal = paramBool(node.params, "causal");
        m_options.window = paramInt(node.params, projects::kWindowParam);
        m_options.dropout = paramDouble(node.params, "dropout");
        const auto& [heads, kvHeads, headDim] = m_heads.sizes;
        m_heads.query = projection(node, "q", heads * headDim, width);
        m_heads.key = projection(node, "k", kvHeads * headDim, width);
        m_heads.value = projection(node, "v", kvHeads * headDim, width);
        m_heads.out = projection(node, "out", width, heads * headDim);
        m_heads.shape = shapeOf(node, m_heads.sizes);
        if (projects::usesFeatures(node.params)) {
            m_heads.features = features(node);
        }
        divide(node.plan);
        const Projection* const made[] = {&m_heads.query, &m_heads.key, &m_heads.value};
        const bool whole = std::ranges::all_of(made, [](const Projection* each) { return each->weight.isPlain(); });
        const bool onHost = takesHostPath(m_compute.device);
        const bool plain = !m_heads.query.bias.defined() && heads == kvHeads;
        // A norm reads contiguous rows, so it would have to copy a part of a joint product.
        const bool isNormed = m_heads.shape.queryNorm.defined();
        const bool alike = m_heads.query.bias.defined() == m_heads.value.bias.defined();
        if (whole && !isNormed && alike && (plain || !onHost) && !m_heads.features.defined()) {
            m_heads.weights = {m_heads.query.weight.whole, m_heads.key.weight.whole, m_heads.value.weight.whole};
            m_heads.joined = joinRows(m_heads.weights);
            if (m_heads.query.bias.defined()) {
                m_heads.biases = {m_heads.query.bias, m_heads.key.bias, m_heads.value.bias};
                m_heads.joinedBias = joinRows(m_heads.biases);
            }
        }
    }

    [[nodiscard]] bool castsInputs() const override { return true; }
    [[nodiscard]] bool drops() const override { return m_options.dropout > 0; }
    [[nodiscard]] at::Tensor run(const Inputs& in, const Pass& pass) const override
    {
        const PartUse& use = in.layer().heads;
        return use.all() ? runOf(m_heads, in, pass)
                         : runOf(these(keptParts(use, m_heads.sizes.kvHeads, m_node), joins(in, pass)), in, pass);
    }

    [[nodiscard]] std::string valueShape() const override
    {
        return std::to_string(m_heads.sizes.kvHeads) + " heads of " + std::to_string(m_heads.sizes.headDim) +
               " features";
    }
    void share(std::shared_ptr<ValueResidual> values) override { m_values = std::move(values); }

private:
    static HeadShape shapeOf(const NodeContext& node, const projects::AttentionSizes& sizes)
    {
        HeadShape shape;
        shape.headDim = sizes.headDim;
        shape.norm = projects::qkNormOf(node.params);
        if (shape.norm != projects::QkNorm::None) {
            const bool isAll = shape.norm == projects::QkNorm::AllHeads;
            const std::int64_t queries = sizes.headDim * (isAll ? sizes.heads : 1);
            const std::int64_t keys = sizes.headDim * (isAll ? sizes.kvHeads : 1);
            shape.queryNorm = node.parameter("q_norm.weight", {queries}, Role::Gain);
            shape.keyNorm = node.parameter("k_norm.weight", {keys}, Role::Gain);
            shape.epsilon = paramDouble(node.params, "norm_eps");
        }
        if (const auto positions = projects::rotaryOf(node.params, sizes.headDim); positions.features > 0) {
            shape.rotary = node.rotaryTables.get(node.plan.compute(), positions);
        }
        return shape;
    }

    /// Registers the heads that the parameters' slices belong to, as these() selects them.
    void divide(InitPlan& plan) const
    {
        PartSlices rows{.of = PartSlices::Of::Heads, .dimension = 0, .count = m_heads.sizes.kvHeads, .node = m_node};
        for (const Projection* const each : {&m_heads.query, &m_heads.key, &m_heads.value}) {
            plan.divide(each->weight.parameter(), rows);
            plan.divide(each->weight.addedU, rows);
            plan.divide(each->bias, rows);
        }
        if (m_heads.shape.norm == projects::QkNorm::AllHeads) {
            plan.divide(m_heads.shape.queryNorm, rows);
            plan.divide(m_heads.shape.keyNorm, rows);
        }
        plan.divide(m_heads.features, rows);
        rows.dimension = 1;
        plan.divide(m_heads.out.weight.factored() ? m_heads.out.weight.v : m_heads.out.weight.whole, rows);
        plan.divide(m_heads.out.weight.addedV, rows);
    }

    /// Returns the kept heads with their weights. A key-value head is left out with all query heads that share it. A
    /// norm over all heads is over the heads that run.
    [[nodiscard]] Heads these(const KeptParts& kept, bool joins) const
    {
        const std::int64_t count = m_heads.sizes.kvHeads;
        const auto rows = [&](const Projection& of) {
            return Projection{rowsAt(of.weight, count, kept.parts),
                              of.bias.defined() ? atParts(of.bias, 0, count, kept.parts) : of.bias};
        };
        Heads heads;
        heads.sizes = m_heads.sizes;
        heads.shape = m_heads.shape;
        if (heads.shape.norm == projects::QkNorm::AllHeads) {
            heads.shape.queryNorm = atParts(m_heads.shape.queryNorm, 0, count, kept.parts);
            heads.shape.keyNorm = atParts(m_heads.shape.keyNorm, 0, count, kept.parts);
        }
        heads.sizes.kvHeads = static_cast<std::int64_t>(kept.parts.size());
        heads.sizes.heads = m_heads.sizes.heads / count * heads.sizes.kvHeads;
        heads.out = {columnsAt(m_heads.out.weight, count, kept.parts), m_heads.out.bias};
        if (m_heads.features.defined()) {
            heads.features = atParts(m_heads.features, 0, count, kept.parts);
        }
        if (joins) {
            heads.weights = m_heads.weights;
            heads.joined = m_heads.joined;
            heads.kept = PartRuns(m_heads.query.weight.out(), count, kept.parts);
        } else {
            heads.query = rows(m_heads.query);
            heads.key = rows(m_heads.key);
            heads.value = rows(m_heads.value);
        }
        if (!kept.factors.empty()) {
            const std::int64_t features = heads.sizes.heads * heads.sizes.headDim / heads.sizes.kvHeads;
            heads.factors = at::tensor(kept.factors, at::kDouble)
                                .to(m_compute.device, m_compute.activationType)
                                .repeat_interleave(features);
        }
        return heads;
    }

    [[nodiscard]] at::Tensor runOf(const Heads& of, const Inputs& in, const Pass& pass) const
    {
        if (pass.weightInputs != nullptr) {
            pass.weightInputs->add(m_heads.query.weight.parameter(), in[0]);
            pass.weightInputs->add(m_heads.key.weight.parameter(), in[1]);
            pass.weightInputs->add(m_heads.value.weight.parameter(), in[2]);
            pass.weightInputs->addSequences(m_name, in[0], in[1]);
        }
        const at::Tensor made = mixedValues(of, in, pass);
        if (pass.weightInputs != nullptr) {
            pass.weightInputs->add(m_heads.out.weight.parameter(), made);
        }
        return project(of.factors.defined() ? made * of.factors : made, of.out);
    }

    /// True if the projections and the operations after them are computed as one function.
    [[nodiscard]] bool joins(const Inputs& in, const Pass& pass) const
    {
        return takesHostPath(m_compute.device) && m_heads.joined.defined() && !m_values && in.size() == 3 &&
               (!pass.training() || m_options.dropout == 0) && !m_options.bounds(in[0].size(1)) &&
               !(pass.rows && pass.rows->changes(m_options.causal));
    }

    /// Returns the outputs of the heads, concatenated: [batch, time, heads · headDim].
    [[nodiscard]] at::Tensor mixedValues(const Heads& of, const Inputs& in, const Pass& pass) const
    {
        if (joins(in, pass)) {
            return runJoined(of, in);
        }
        const auto [q, k, own] = projected(of, in);
        const at::Tensor v = m_values ? m_values->use(in.layer().index, own) : own;
        const at::Tensor mask = in.size() > 3 ? in[3] : at::Tensor();
        const at::Tensor mixed = attend(of, q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), mask, pass,
                                        streamOfVisit(m_stream, in.layer()));
        return mixed.transpose(1, 2).flatten(2);
    }

    /// Returns queries, keys and values in heads, after norm and rotation: [batch, time, heads, headDim] each. On a
    /// GPU, a common input of all three is cast once and multiplied once, which saves memory and passes over it. On the
    /// host their gradients are added before they are rounded.
    [[nodiscard]] std::array<at::Tensor, 3> projected(const Heads& of, const Inputs& in) const
    {
        const bool together = !takesHostPath(m_compute.device) && in[0].is_same(in[1]) && in[0].is_same(in[2]);
        const at::Tensor cast = together ? in[0].to(m_compute.activationType) : at::Tensor();
        if (!together || !of.joined.defined()) {
            const auto input = [&](std::size_t part) { return together ? cast : in[part]; };
            return {of.shape.queries(project(input(0), of.query)), of.shape.keys(project(input(1), of.key)),
                    of.shape.split(project(input(2), of.value))};
        }
        const bool turns = of.shape.rotary != nullptr; // there is no norm before it
        ProjectedHeads heads;
        heads.input = cast;
        std::ranges::copy(of.weights, heads.weights);
        std::ranges::copy(of.biases, heads.biases);
        heads.joined = rounded(m_compute, of.joined);
        heads.joinedBias = rounded(m_compute, of.joinedBias);
        heads.headDim = of.sizes.headDim;
        heads.products = m_compute.products;
        heads.angles = turns ? &of.shape.rotary->upTo(cast.size(1)) : nullptr;
        const auto [q, k, v] = projectedHeads(heads);
        return {of.shape.split(q), of.shape.split(k), of.shape.split(v)};
    }

    /// Returns the attention of q, k and v, each [batch, heads, time, headDim]; k and v may have fewer, shared heads.
    /// `mask` is [batch, time], or undefined. `stream` is that of dropout.
    [[nodiscard]] at::Tensor attend(const Heads& of, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                    const at::Tensor& mask, const Pass& pass, std::uint64_t stream) const
    {
        if (of.features.defined()) {
            return featureAttention(q, k, v, of.features, m_options.causal);
        }
        const double dropout = pass.training() ? m_options.dropout : 0.0;
        const bool sharesHeads = of.sizes.heads != of.sizes.kvHeads;
        const bool drops = dropout > 0 && takesHostPath(q.device());
        RowLayout* const rows = pass.rows && pass.rows->changes(m_options.causal) ? pass.rows.get() : nullptr;
        if (rows != nullptr && rows->isPacked() && !mask.defined() && !drops && takesHostPath(q.device())) {
            return attendApart(q, k, v, rows->documents(), [&](const auto& query, const auto& key, const auto& value) {
                return attendAll(query, key, value, dropout, sharesHeads);
            });
        }
        if (drops || mask.defined() || rows != nullptr) {
            const bool hides = m_options.causal || mask.defined() || rows != nullptr;
            const at::ScalarType type = drops && q.scalar_type() != at::kDouble ? at::kFloat : q.scalar_type();
            const at::Tensor term = hides ? scoreTerm(m_options, mask, rows, q.to(type), q.size(2)) : at::Tensor();
            const auto dropped = [&](const at::Tensor& weights) {
                return pass.draws.defined() ? engine::dropout(weights, dropout, stream, pass.draws)
                                            : at::dropout(weights, dropout, true);
            };
            return drops ? attendDropping(q, k, v, term, dropped)
                         : at::scaled_dot_product_attention(q, k, v, term, dropout, /*is_causal=*/false, std::nullopt,
                                                            sharesHeads);
        }
        return attendAll(q, k, v, dropout, sharesHeads);
    }

    /// Returns the attention of sequences without padding.
    [[nodiscard]] at::Tensor attendAll(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double dropout,
                                       bool sharesHeads) const
    {
        return m_options.bounds(q.size(2))
                   ? attendWithin(q, k, v, m_options.window, dropout, sharesHeads)
                   : at::scaled_dot_product_attention(q, k, v, std::nullopt, dropout, m_options.causal, std::nullopt,
                                                      sharesHeads);
    }

    /// Runs the projections, the rotation and the attention as one function.
    [[nodiscard]] at::Tensor runJoined(const Heads& of, const Inputs& in) const
    {
        const at::ScalarType type = m_compute.activationType;
        const bool same = in[0].is_same(in[1]) && in[0].is_same(in[2]);
        ProjectedAttention attention;
        for (std::size_t part = 0; part < 3; ++part) {
            attention.inputs[part] = same && part > 0 ? attention.inputs[0] : in[part].to(type);
            attention.weights[part] = of.weights[part];
        }
        attention.joined = rounded(m_compute, of.joined);
        attention.kept = of.kept;
        attention.heads = of.sizes.heads;
        attention.causal = m_options.causal;
        attention.products = m_compute.products;
        attention.angles = of.shape.rotary ? &of.shape.rotary->upTo(in[0].size(1)) : nullptr;
        return projectedAttention(attention);
    }

    static Projection projection(const NodeContext& node, const std::string& name, std::int64_t out, std::int64_t in)
    {
        return {node.weight(name + ".weight", {out, in}), projects::hasBias(node.params, name)
                                                              ? node.parameter(name + ".bias", {out}, Role::Bias)
                                                              : at::Tensor()};
    }

    [[nodiscard]] at::Tensor project(const at::Tensor& x, const Projection& by) const
    {
        return linear(m_compute, x, by.weight, by.bias);
    }

    /// Declares the kernel's features with the data for their fit.
    [[nodiscard]] at::Tensor features(const NodeContext& node) const
    {
        AttentionFeatures attention;
        attention.node = m_name;
        attention.width = node.features();
        attention.causal = m_options.causal;
        attention.fitted = projects::paramText(node.params, projects::kFeaturesStartParam) == projects::kFittedFeatures;
        attention.headsOf = [compute = m_compute, shape = m_heads.shape, query = m_heads.query,
                             key = m_heads.key](const AttentionInputs& inputs) {
            const auto made = [&](const at::Tensor& x, const Projection& by) {
                return linear(compute, x.to(compute.parameterType), by.weight, by.bias);
            };
            return AttentionFeatures::Heads{shape.queries(made(inputs.forQueries, query)).transpose(1, 2),
                                            shape.keys(made(inputs.forKeys, key)).transpose(1, 2)};
        };
        const std::int64_t count = paramInt(node.params, projects::kFeaturesParam);
        return node.plan.addFeatures(m_name + "features", {m_heads.sizes.kvHeads, count, m_heads.sizes.headDim},
                                     std::move(attention));
    }

    Compute m_compute;
    std::string m_name;     ///< the node's name with its prefix and a full stop
    std::uint64_t m_stream; ///< of dropout's draws
    AttentionOptions m_options;
    Heads m_heads;                           ///< all heads
    std::uint64_t m_node = 0;                ///< the node's number in its graph
    std::shared_ptr<ValueResidual> m_values; ///< null if the attention uses its own values
};

} // namespace

OperatorResult buildAttention(const NodeContext& node)
{
    return OperatorResult(std::make_unique<AttentionOperator>(node));
}

} // namespace residua::engine
