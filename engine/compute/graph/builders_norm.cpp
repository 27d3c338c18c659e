// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/graph/fusion.h"
#include "engine/compute/graph/node_builder.h"
#include "engine/compute/graph/operator.h"
#include "engine/compute/ops/norm.h"
#include "engine/compute/ops/operators.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>

namespace residua::engine {
namespace {

using projects::paramBool;
using projects::paramDouble;
using projects::paramText;

/// Returns the weight and, if requested, the bias: its own, or those of the norm that it shares with. Either may be
/// built first.
std::vector<at::Tensor> normWeights(const NodeContext& node, bool bias)
{
    const std::string shared = weightOwnerOf(node.node);
    const std::string& owner = shared.empty() ? node.node.name : shared;
    std::vector<at::Tensor>& weights = node.sharedNorms[owner];
    if (weights.empty()) {
        const std::string name = node.graphPrefix + owner;
        weights.push_back(node.plan.add(name + ".weight", {node.features()}, Role::Gain));
        if (bias) {
            weights.push_back(node.plan.add(name + ".bias", {node.features()}, Role::Bias));
        }
    }
    return weights;
}

OperatorResult buildRmsNorm(const NodeContext& node)
{
    const at::Tensor weight = normWeights(node, false)[0];
    return OperatorResult(std::make_unique<NormOperator>(
        node.plan.compute(), Norm{kernels::NormKind::rms, weight, {}, paramDouble(node.params, "epsilon")}));
}

OperatorResult buildLayerNorm(const NodeContext& node)
{
    std::vector<at::Tensor> weights = normWeights(node, paramBool(node.params, "bias"));
    weights.resize(2);
    return OperatorResult(
        std::make_unique<NormOperator>(node.plan.compute(), Norm{kernels::NormKind::layer, weights[0], weights[1],
                                                                 paramDouble(node.params, "epsilon")}));
}

OperatorResult buildActivation(const NodeContext& node)
{
    const std::string& function = paramText(node.params, "function");
    if (const ActivationFunction apply = activationFunction(function)) {
        return makeOperator([apply](const Inputs& in, const Pass&) { return apply(in[0]); });
    }
    return Error{"function", "the engine does not know " + function};
}

OperatorResult buildSwiglu(const NodeContext&)
{
    return OperatorResult(std::make_unique<SwigluOperator>());
}

class DropoutOperator final : public Operator {
public:
    DropoutOperator(double rate, std::uint64_t stream) : m_rate(rate), m_stream(stream) {}
    [[nodiscard]] at::Tensor run(const Inputs& in, const Pass& pass) const override
    {
        return pass.training() && pass.draws.defined()
                   ? dropout(in[0], m_rate, streamOfVisit(m_stream, in.layer()), pass.draws)
                   : at::dropout(in[0], m_rate, pass.training());
    }
    [[nodiscard]] bool drops() const override { return m_rate > 0; }

private:
    double m_rate;
    std::uint64_t m_stream;
};

OperatorResult buildDropout(const NodeContext& node)
{
    return OperatorResult(
        std::make_unique<DropoutOperator>(paramDouble(node.params, "rate"), streamKey(0, node.prefix())));
}

OperatorResult buildScale(const NodeContext& node)
{
    const double value = paramDouble(node.params, "value");
    const std::string& learned = paramText(node.params, "learned");
    if (learned == "no") {
        return makeOperator([value](const Inputs& in, const Pass&) { return in[0] * value; });
    }
    const std::int64_t size = learned == "scalar" ? 1 : node.features();
    const at::Tensor factor = node.plan.addConstant(node.prefix() + "factor", {size}, value, Decay::No);
    return makeOperator([factor](const Inputs& in, const Pass&) { return in[0] * factor.to(in[0].scalar_type()); });
}

constexpr NodeBuilderEntry kNormBuilders[] = {
    {"rms_norm", buildRmsNorm}, {"layer_norm", buildLayerNorm}, {"activation", buildActivation},
    {"swiglu", buildSwiglu},    {"dropout", buildDropout},      {"scale", buildScale},
};

} // namespace

std::span<const NodeBuilderEntry> normBuilders()
{
    return kNormBuilders;
}

} // namespace residua::engine
