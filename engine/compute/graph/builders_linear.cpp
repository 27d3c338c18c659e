// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/graph/fusion.h"
#include "engine/compute/graph/node_builder.h"
#include "engine/compute/init/weight_inputs.h"
#include "engine/compute/ops/fused.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/im2col.h>

#include <array>

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

/// Steps and padding by height and width.
struct Steps {
    std::array<std::int64_t, 2> stride;
    std::array<std::int64_t, 2> padding;
};

at::Tensor convolve(const Compute& compute, const at::Tensor& image, const at::Tensor& weight, const at::Tensor& bias,
                    const Steps& steps, std::int64_t groups = 1)
{
    return at::conv2d(image.to(compute.activationType), rounded(compute, weight), rounded(compute, bias), steps.stride,
                      steps.padding, 1, groups);
}

/// Convolves along the width to `rank` channels by v [rank, in, 1, kernel], then along the height by u [out · kernel,
/// rank].
at::Tensor convolveBySide(const Compute& compute, const at::Tensor& image, const Weight& weight, const at::Tensor& bias,
                          const Steps& steps)
{
    const std::int64_t kernel = weight.v.size(3);
    const at::Tensor columns = convolve(compute, image, weight.v, {}, {{1, steps.stride[1]}, {0, steps.padding[1]}});
    const at::Tensor u = weight.u.unflatten(0, {-1, kernel}).transpose(1, 2).unsqueeze(3);
    return convolve(compute, columns, u, bias, {{steps.stride[0], 1}, {steps.padding[0], 0}});
}

/// Returns the patches that each output of a convolution reads: [batch, outputs, channels · kernel²].
at::Tensor patchesOf(const at::Tensor& image, std::int64_t kernel, std::int64_t stride, std::int64_t padding)
{
    return at::im2col(image, {kernel, kernel}, {1, 1}, {padding, padding}, {stride, stride}).transpose(1, 2);
}

/// Builds a convolution with weight [out, in / groups, kernel, kernel]. In factors: a convolution to `rank` channels, v
/// [rank, in, kernel, kernel], followed by a 1×1 convolution u. They factor the weight as a matrix [out, in · kernel²].
/// By side, they factor it as [out · kernel, in · kernel] (init_plan.h).
OperatorResult buildConv2d(const NodeContext& node)
{
    const std::int64_t groups = paramInt(node.params, projects::kGroupsParam);
    const std::int64_t kernel = paramInt(node.params, "kernel");
    const std::int64_t channels = node.inputs[0].dims[1] / groups;
    const Weight weight = node.weight("weight", {paramInt(node.params, "out"), channels, kernel, kernel});
    const bool bySide = weight.factored() && projects::unfoldsBySide(node.params);
    return makeOperator([weight, bias = biasOf(node), kernel, stride = paramInt(node.params, "stride"),
                         padding = paramInt(node.params, "padding"), groups, bySide,
                         compute = node.plan.compute()](const Inputs& in, const Pass& pass) {
        const Steps steps{{stride, stride}, {padding, padding}};
        if (bySide) {
            return convolveBySide(compute, in[0], weight, bias, steps);
        }
        if (pass.weightInputs != nullptr && groups == 1) {
            const at::Tensor image = in[0].to(compute.activationType);
            pass.weightInputs->add(weight.parameter(), patchesOf(image, kernel, stride, padding));
        }
        if (!weight.factored()) {
            return convolve(compute, in[0], weight.whole, bias, steps, groups);
        }
        const at::Tensor inner = convolve(compute, in[0], weight.v, {}, steps);
        return convolve(compute, inner, weight.u.unsqueeze(2).unsqueeze(3), bias, {{1, 1}, {0, 0}});
    });
}

/// Maps [batch, channels, height, width] to [batch, patches, out]; weight [out, channels, patch, patch].
OperatorResult buildPatchify(const NodeContext& node)
{
    const std::int64_t patch = paramInt(node.params, "patch");
    const at::Tensor weight =
        node.outputMatrix("weight", {paramInt(node.params, "out"), node.inputs[0].dims[1], patch, patch});
    return makeOperator(
        [weight, bias = biasOf(node), patch, compute = node.plan.compute()](const Inputs& in, const Pass&) {
            return convolve(compute, in[0], weight, bias, {{patch, patch}, {0, 0}}).flatten(2).transpose(1, 2);
        });
}

constexpr NodeBuilderEntry kLinearBuilders[] = {
    {"linear", buildLinear},
    {"conv1d", buildConv1d},
    {"conv2d", buildConv2d},
    {"patchify", buildPatchify},
};

} // namespace

std::span<const NodeBuilderEntry> linearBuilders()
{
    return kLinearBuilders;
}

} // namespace residua::engine
