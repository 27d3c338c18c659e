// SPDX-License-Identifier: GPL-3.0-or-later
// Kinds that read or make images. LibTorch computes on [batch, channels, height, width]; an image with its features
// last is a view of one whose channels are contiguous.
#include "engine/compute/graph/node_builder.h"

#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/im2col.h>
#include <ATen/ops/max_pool2d.h>

#include <array>

namespace residua::engine {
namespace {

using projects::paramBool;
using projects::paramInt;

/// The layout of the images that a node reads and makes.
struct Layout {
    bool featuresLast = false;

    [[nodiscard]] at::Tensor read(const at::Tensor& x) const { return featuresLast ? x.permute({0, 3, 1, 2}) : x; }
    [[nodiscard]] at::Tensor made(const at::Tensor& y) const { return featuresLast ? y.permute({0, 2, 3, 1}) : y; }
};

/// Steps and padding by height and width.
struct Steps {
    std::array<std::int64_t, 2> stride;
    std::array<std::int64_t, 2> padding;
};

at::Tensor imageBias(const NodeContext& node)
{
    return paramBool(node.params, "bias") ? node.parameter("bias", {paramInt(node.params, "out")}, Role::Bias)
                                          : at::Tensor();
}

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
    at::Tensor u = weight.u.unflatten(0, {-1, kernel}).transpose(1, 2).unsqueeze(3);
    if (columns.suggest_memory_format() == at::MemoryFormat::ChannelsLast) {
        u = u.clone(at::MemoryFormat::Contiguous); // LibTorch's backward in double precision refuses other strides
    }
    return convolve(compute, columns, u, bias, {{steps.stride[0], 1}, {steps.padding[0], 0}});
}

/// Returns the patches that each output of a convolution reads: [batch, outputs, channels · kernel²].
at::Tensor patchesOf(const at::Tensor& image, std::int64_t kernel, std::int64_t stride, std::int64_t padding)
{
    return at::im2col(image, {kernel, kernel}, {1, 1}, {padding, padding}, {stride, stride}).transpose(1, 2);
}

/// A convolution of images [batch, channels, height, width].
class Convolution {
public:
    explicit Convolution(const NodeContext& node)
        : m_compute(node.plan.compute()),
          m_groups(paramInt(node.params, projects::kGroupsParam)),
          m_kernel(paramInt(node.params, "kernel")),
          m_stride(paramInt(node.params, "stride")),
          m_padding(paramInt(node.params, "padding"))
    {
        const std::int64_t channels = projects::channelsFirst(node.params, node.inputs[0]).dims[1] / m_groups;
        m_weight = node.weight("weight", {paramInt(node.params, "out"), channels, m_kernel, m_kernel});
        m_bias = imageBias(node);
        m_bySide = m_weight.factored() && projects::unfoldsBySide(node.params);
    }

    [[nodiscard]] at::Tensor run(const at::Tensor& image, const Pass& pass) const
    {
        const Steps steps{{m_stride, m_stride}, {m_padding, m_padding}};
        if (m_bySide) {
            return convolveBySide(m_compute, image, m_weight, m_bias, steps);
        }
        if (pass.weightInputs != nullptr && m_groups == 1) {
            const at::Tensor cast = image.to(m_compute.activationType);
            pass.weightInputs->add(m_weight.parameter(), patchesOf(cast, m_kernel, m_stride, m_padding));
        }
        if (!m_weight.factored()) {
            return convolve(m_compute, image, m_weight.whole, m_bias, steps, m_groups);
        }
        const at::Tensor inner = convolve(m_compute, image, m_weight.v, {}, steps);
        return convolve(m_compute, inner, m_weight.u.unsqueeze(2).unsqueeze(3), m_bias, {{1, 1}, {0, 0}});
    }

private:
    Compute m_compute;
    std::int64_t m_groups;
    std::int64_t m_kernel;
    std::int64_t m_stride;
    std::int64_t m_padding;
    Weight m_weight;
    at::Tensor m_bias;
    bool m_bySide = false;
};

/// Builds a convolution with weight [out, in / groups, kernel, kernel]. In factors: a convolution to `rank` channels, v
/// [rank, in, kernel, kernel], followed by a 1×1 convolution u. They factor the weight as a matrix [out, in · kernel²].
/// By side, they factor it as [out · kernel, in · kernel] (init_plan.h).
OperatorResult buildConv2d(const NodeContext& node)
{
    return makeOperator([convolution = Convolution(node),
                         layout = Layout{projects::hasFeaturesLast(node.params)}](const Inputs& in, const Pass& pass) {
        return layout.made(convolution.run(layout.read(in[0]), pass));
    });
}

/// Maps [batch, channels, height, width] to [batch, patches, out]; weight [out, channels, patch, patch].
OperatorResult buildPatchify(const NodeContext& node)
{
    const std::int64_t patch = paramInt(node.params, "patch");
    const at::Tensor weight =
        node.outputMatrix("weight", {paramInt(node.params, "out"), node.inputs[0].dims[1], patch, patch});
    return makeOperator(
        [weight, bias = imageBias(node), patch, compute = node.plan.compute()](const Inputs& in, const Pass&) {
            return convolve(compute, in[0], weight, bias, {{patch, patch}, {0, 0}}).flatten(2).transpose(1, 2);
        });
}

OperatorResult buildPool(const NodeContext& node)
{
    const bool isMaximum = projects::paramText(node.params, "function") == "max";
    return makeOperator([isMaximum, kernel = paramInt(node.params, "kernel"), stride = paramInt(node.params, "stride"),
                         padding = paramInt(node.params, "padding"),
                         layout = Layout{projects::hasFeaturesLast(node.params)}](const Inputs& in, const Pass&) {
        const at::Tensor image = layout.read(in[0]);
        return layout.made(isMaximum ? at::max_pool2d(image, kernel, stride, padding)
                                     : at::avg_pool2d(image, kernel, stride, padding));
    });
}

OperatorResult buildFeaturesLast(const NodeContext&)
{
    return makeOperator([](const Inputs& in, const Pass&) { return Layout{true}.made(in[0]); });
}

OperatorResult buildUnpatchify(const NodeContext& node)
{
    const std::int64_t patch = paramInt(node.params, "patch");
    const std::int64_t columns = paramInt(node.params, "columns");
    return makeOperator([patch, columns](const Inputs& in, const Pass&) {
        const at::Tensor squares =
            in[0].reshape({in[0].size(0), -1, columns, patch, patch, in[0].size(2) / (patch * patch)});
        return squares.permute({0, 5, 1, 3, 2, 4}).flatten(1);
    });
}

constexpr NodeBuilderEntry kImageBuilders[] = {
    {"conv2d", buildConv2d},         {"patchify", buildPatchify},
    {"pool2d", buildPool},           {"features_last", buildFeaturesLast},
    {"unpatchify", buildUnpatchify},
};

} // namespace

std::span<const NodeBuilderEntry> imageBuilders()
{
    return kImageBuilders;
}

} // namespace residua::engine
