// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/graph/fusion.h"
#include "engine/compute/graph/node_builder.h"
#include "engine/compute/ops/fused.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>

namespace residua::engine {
namespace {

using projects::paramBool;
using projects::paramDouble;
using projects::paramInt;

at::Tensor biasOf(const NodeContext& node)
{
    return paramBool(node.params, "bias") ? node.parameter("bias", {paramInt(node.params, "out")}, Role::Bias)
                                          : at::Tensor();
}

/// Builds a linear map with weight [out, in].
OperatorResult buildLinear(const NodeContext& node)
{
    const std::int64_t out = paramInt(node.params, "out");
    const Weight weight = node.tied.defined()
                              ? Weight{node.tied, {}, {}}
                              : node.weight("weight", {out, node.features()}, paramDouble(node.params, "start"));
    if (weight.out() != out || weight.in() != node.features()) {
        return Error{"", "the tied table has " + std::to_string(weight.out()) + " rows of " +
                             std::to_string(weight.in()) + " features, expected " + std::to_string(out) + " of " +
                             std::to_string(node.features())};
    }
    return OperatorResult(std::make_unique<LinearOperator>(node.plan.compute(), weight, biasOf(node)));
}

/// Builds a convolution over time that keeps the length; weight [out, in / groups, kernel].
OperatorResult buildConv1d(const NodeContext& node)
{
    const std::int64_t groups = paramInt(node.params, projects::kGroupsParam);
    const std::int64_t kernel = paramInt(node.params, "kernel");
    const at::Tensor weight =
        node.outputMatrix("weight", {paramInt(node.params, "out"), node.features() / groups, kernel});
    const std::int64_t before = paramBool(node.params, "causal") ? kernel - 1 : (kernel - 1) / 2;
    return makeOperator([weight, bias = biasOf(node), groups, before, after = kernel - 1 - before,
                         compute = node.plan.compute()](const Inputs& in, const Pass&) {
        const at::Tensor x = in[0].to(compute.activationType);
        const at::Tensor padded = at::constant_pad_nd(x.transpose(1, 2), {before, after});
        return at::conv1d(padded, rounded(compute, weight), rounded(compute, bias), 1, at::IntArrayRef{0}, 1, groups)
            .transpose(1, 2);
    });
}

constexpr NodeBuilderEntry kLinearBuilders[] = {
    {"linear", buildLinear},
    {"conv1d", buildConv1d},
};

} // namespace

std::span<const NodeBuilderEntry> linearBuilders()
{
    return kLinearBuilders;
}

} // namespace residua::engine
