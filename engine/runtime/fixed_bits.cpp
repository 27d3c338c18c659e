// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runtime/fixed_bits.h"

#include "engine/runtime/host_path.h"

#include <ATen/ExpandUtils.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/log.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sigmoid_backward.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <optional>

namespace residua::engine {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr std::int64_t kBlock = std::int64_t{1} << 16U; ///< elements, a multiple of every vector's length
constexpr std::int64_t kSummed = 4096;                  ///< elements that one partial sum adds
constexpr std::int64_t kAlone = 16384;                  ///< as many LibTorch adds on one thread
constexpr std::int64_t kNormRows = 256;                 ///< rows whose gradients of a norm's weights are added first

void refuseSecondDerivative()
{
    TORCH_CHECK(!at::GradMode::is_enabled(), "this function has no second derivative");
}

at::ScalarType sumType(const at::Tensor& x)
{
    return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

/// body(i) for each of `count` shares of the work. LibTorch's functions run on one thread inside, but only where its
/// threads are at work already: one share alone it would share out again, so there are two at least.
template <class Body>
void forShares(std::int64_t count, const Body& body)
{
    at::parallel_for(0, std::max<std::int64_t>(count, 2), 1, [&](std::int64_t begin, std::int64_t end) {
        const at::AutoDispatchBelowADInplaceOrView plain;
        for (std::int64_t i = begin; i < std::min(end, count); ++i) {
            body(i);
        }
    });
}

/// A function of each element of `inputs`, which are of one shape: compute(out, parts) on blocks that follow from the
/// shape.
template <std::size_t N, class Compute>
at::Tensor pointwise(const std::array<at::Tensor, N>& inputs, const Compute& compute)
{
    std::array<at::Tensor, N> flat;
    std::ranges::transform(inputs, flat.begin(), [](const at::Tensor& x) { return x.contiguous().view(-1); });
    at::Tensor result = at::empty(inputs[0].sizes(), inputs[0].options());
    const at::Tensor out = result.view(-1);
    const std::int64_t count = out.numel();
    forShares((count + kBlock - 1) / kBlock, [&](std::int64_t block) {
        const std::int64_t begin = block * kBlock;
        const std::int64_t length = std::min(kBlock, count - begin);
        std::array<at::Tensor, N> parts;
        std::ranges::transform(flat, parts.begin(), [&](const at::Tensor& x) { return x.narrow(0, begin, length); });
        at::Tensor part = out.narrow(0, begin, length);
        compute(part, parts);
    });
    return result;
}

at::Tensor sumOnHost(const at::Tensor& x)
{
    at::Tensor rest = x.contiguous().view(-1);
    std::optional<at::Tensor> tail;
    while (rest.numel() > kAlone) {
        const std::int64_t rows = rest.numel() / kSummed;
        const std::int64_t whole = rows * kSummed;
        if (whole < rest.numel()) {
            const at::Tensor left = rest.narrow(0, whole, rest.numel() - whole).sum(sumType(x));
            tail = tail ? *tail + left : left;
        }
        rest = rest.narrow(0, 0, whole).view({rows, kSummed}).sum({1}, false, sumType(x));
    }
    const at::Tensor sum = rest.sum(sumType(x));
    return tail ? sum + *tail : sum;
}

class SumFunction : public Function<SumFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& x)
    {
        context->saved_data["shape"] = x.sizes();
        context->saved_data["type"] = x.scalar_type();
        return sumOnHost(x);
    }
    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        return {
            grads[0].to(context->saved_data["type"].toScalarType()).expand(context->saved_data["shape"].toIntVector())};
    }
};

class ScaledFunction : public Function<ScaledFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& factor)
    {
        context->save_for_backward({x, factor});
        return x * factor;
    }
    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        refuseSecondDerivative();
        const variable_list saved = context->get_saved_variables();
        const at::Tensor& x = saved[0];
        const at::Tensor& factor = saved[1];
        variable_list result(2);
        if (context->needs_input_grad(0)) {
            result[0] = grads[0] * factor;
        }
        if (context->needs_input_grad(1)) {
            const at::Tensor product = grads[0] * x;
            const at::Tensor sum = factor.numel() == 1 ? sumOnHost(product)
                                                       : product.reshape({-1, x.size(-1)}).sum({0}, false, sumType(x));
            result[1] = sum.to(factor.scalar_type()).view(factor.sizes());
        }
        return result;
    }
};

class SigmoidFunction : public Function<SigmoidFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& x)
    {
        at::Tensor y = pointwise<1>({x}, [](at::Tensor& out, const auto& in) { at::sigmoid_out(out, in[0]); });
        context->save_for_backward({y});
        return y;
    }
    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        refuseSecondDerivative();
        return {pointwise<2>({grads[0], context->get_saved_variables()[0]},
                             [](at::Tensor& out, const auto& in) { at::sigmoid_backward_out(out, in[0], in[1]); })};
    }
};

class SiluFunction : public Function<SiluFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& x)
    {
        context->save_for_backward({x});
        return pointwise<1>({x}, [](at::Tensor& out, const auto& in) { at::silu_out(out, in[0]); });
    }
    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        refuseSecondDerivative();
        return {pointwise<2>({grads[0], context->get_saved_variables()[0]},
                             [](at::Tensor& out, const auto& in) { at::silu_backward_out(out, in[0], in[1]); })};
    }
};

constexpr c10::string_view kByErf = "none"; // LibTorch's names of the two
constexpr c10::string_view kByTanh = "tanh";

class GeluFunction : public Function<GeluFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& x, bool byTanh)
    {
        context->save_for_backward({x});
        context->saved_data["tanh"] = byTanh;
        return pointwise<1>(
            {x}, [by = byTanh ? kByTanh : kByErf](at::Tensor& out, const auto& in) { at::gelu_out(out, in[0], by); });
    }
    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        refuseSecondDerivative();
        const c10::string_view by = context->saved_data["tanh"].toBool() ? kByTanh : kByErf;
        return {pointwise<2>({grads[0], context->get_saved_variables()[0]},
                             [by](at::Tensor& out, const auto& in) { at::gelu_backward_out(out, in[0], in[1], by); }),
                Variable()};
    }
};

at::Tensor powerOnHost(const at::Tensor& base, const at::Tensor& exponent)
{
    return pointwise<2>({base, exponent}, [](at::Tensor& out, const auto& in) { at::pow_out(out, in[0], in[1]); });
}

class PowerFunction : public Function<PowerFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& base, const at::Tensor& exponent)
    {
        context->save_for_backward({base, exponent});
        return powerOnHost(base, exponent);
    }
    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        refuseSecondDerivative();
        const variable_list saved = context->get_saved_variables();
        const at::Tensor& base = saved[0];
        const at::Tensor& exponent = saved[1];
        variable_list result(2);
        if (context->needs_input_grad(0)) {
            const at::Tensor slope = grads[0] * exponent * powerOnHost(base, exponent - 1);
            result[0] = at::where(exponent == 0, at::zeros_like(slope), slope);
        }
        if (context->needs_input_grad(1)) {
            const at::Tensor slope = grads[0] * powerOnHost(base, exponent) * at::log(base);
            result[1] = at::where(base == 0, at::zeros_like(slope), slope);
        }
        return result;
    }
};

class SoftmaxFunction : public Function<SoftmaxFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& x, std::int64_t dimension)
    {
        at::Tensor y = at::exp(x - at::amax(x, dimension, true));
        y = y / y.sum(dimension, true);
        context->save_for_backward({y});
        context->saved_data["dimension"] = dimension;
        return y;
    }
    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        refuseSecondDerivative();
        const at::Tensor y = context->get_saved_variables()[0];
        const std::int64_t dimension = context->saved_data["dimension"].toInt();
        return {(grads[0] - (grads[0] * y).sum(dimension, true)) * y, Variable()};
    }
};

class LayerNormFunction : public Function<LayerNormFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, double epsilon)
    {
        const at::Tensor x = input.contiguous();
        auto [y, mean, rstd] = at::native_layer_norm(x, x.sizes().slice(x.dim() - 1), weight, bias, epsilon);
        const std::int64_t width = x.size(-1);
        context->save_for_backward(
            {x.view({-1, width}), weight, bias.value_or(at::Tensor()), mean.view({-1, 1}), rstd.view({-1, 1})});
        return y;
    }

    /// The weights' gradients are added by rows of a fixed number, then over those.
    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        refuseSecondDerivative();
        const variable_list saved = context->get_saved_variables();
        const at::Tensor& x = saved[0];
        const at::Tensor grad = grads[0].contiguous().view(x.sizes());
        at::Tensor xGrad = at::empty_like(x);
        const std::int64_t rows = x.size(0);
        const std::int64_t shares = (rows + kNormRows - 1) / kNormRows;
        const std::optional<at::Tensor> bias = saved[2].defined() ? std::optional(saved[2]) : std::nullopt;
        const at::Tensor sums = at::empty({2, shares, x.size(1)}, x.options());
        forShares(shares, [&](std::int64_t share) {
            const auto part = [&](const at::Tensor& tensor) {
                return tensor.narrow(0, share * kNormRows, std::min(kNormRows, rows - share * kNormRows));
            };
            const auto [dx, weightGrad, biasGrad] =
                at::native_layer_norm_backward(part(grad), part(x), {x.size(1)}, part(saved[3]), part(saved[4]),
                                               saved[1], bias, {true, true, bias.has_value()});
            part(xGrad).copy_(dx);
            sums.select(0, 0).select(0, share).copy_(weightGrad);
            if (bias) {
                sums.select(0, 1).select(0, share).copy_(biasGrad);
            }
        });
        return {xGrad.view(grads[0].sizes()), sums.select(0, 0).sum(0), bias ? sums.select(0, 1).sum(0) : Variable(),
                Variable()};
    }
};

class ConvolutionFunction : public Function<ConvolutionFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, std::int64_t groups)
    {
        context->save_for_backward({x, weight});
        context->saved_data["groups"] = groups;
        context->saved_data["bias"] = bias.has_value();
        return at::conv1d(x, weight, bias, 1, at::IntArrayRef{0}, 1, groups);
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        refuseSecondDerivative();
        const variable_list saved = context->get_saved_variables();
        const at::Tensor& x = saved[0];
        const at::Tensor& weight = saved[1];
        const at::Tensor& grad = grads[0];
        const std::int64_t groups = context->saved_data["groups"].toInt();
        variable_list result(4);
        if (context->needs_input_grad(0)) {
            result[0] = std::get<0>(at::convolution_backward(grad, x, weight, std::nullopt, {1}, {0}, {1}, false, {0},
                                                             groups, {true, false, false}));
        }
        result[1] = at::empty_like(weight);
        const at::Tensor ofGrad = byGroup(grad, groups);
        for (std::int64_t tap = 0; tap < weight.size(2); ++tap) {
            const at::Tensor seen = byGroup(x.narrow(2, tap, grad.size(2)), groups);
            result[1].select(2, tap).copy_(at::matmul(ofGrad, seen.transpose(1, 2)).view(weight.sizes().slice(0, 2)));
        }
        if (context->saved_data["bias"].toBool()) {
            result[2] = grad.transpose(1, 2).reshape({-1, grad.size(1)}).sum(0);
        }
        return result;
    }

private:
    /// [batch, channels, time] to [groups, channels / groups, batch · time].
    static at::Tensor byGroup(const at::Tensor& x, std::int64_t groups)
    {
        return x.transpose(0, 1).reshape({groups, x.size(1) / groups, -1});
    }
};

std::optional<at::Tensor> unlessUndefined(const at::Tensor& tensor)
{
    return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

} // namespace

at::Tensor sumOfAll(const at::Tensor& x)
{
    return takesHostPath(x.device()) ? SumFunction::apply(x) : at::sum(x, sumType(x));
}

at::Tensor scaled(const at::Tensor& x, const at::Tensor& factor)
{
    return takesHostPath(x.device()) ? ScaledFunction::apply(x, factor) : x * factor;
}

at::Tensor sigmoid(const at::Tensor& x)
{
    return takesHostPath(x.device()) ? SigmoidFunction::apply(x) : at::sigmoid(x);
}

at::Tensor silu(const at::Tensor& x)
{
    return takesHostPath(x.device()) ? SiluFunction::apply(x) : at::silu(x);
}

at::Tensor gelu(const at::Tensor& x)
{
    return takesHostPath(x.device()) ? GeluFunction::apply(x, false) : at::gelu(x);
}

at::Tensor geluTanh(const at::Tensor& x)
{
    return takesHostPath(x.device()) ? GeluFunction::apply(x, true) : at::gelu(x, kByTanh);
}

at::Tensor power(const at::Tensor& base, const at::Tensor& exponent)
{
    if (!takesHostPath(base.device())) {
        return at::pow(base, exponent);
    }
    const std::vector<std::int64_t> shape = at::infer_size(base.sizes(), exponent.sizes());
    return PowerFunction::apply(base.expand(shape), exponent.expand(shape));
}

at::Tensor softmax(const at::Tensor& x, std::int64_t dimension)
{
    return takesHostPath(x.device()) ? SoftmaxFunction::apply(x, dimension) : at::softmax(x, dimension);
}

at::Tensor layerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon)
{
    return takesHostPath(x.device()) ? LayerNormFunction::apply(x, weight, unlessUndefined(bias), epsilon)
                                     : at::layer_norm(x, {x.size(-1)}, weight, bias, epsilon);
}

at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, std::int64_t groups)
{
    const std::optional<at::Tensor> added = unlessUndefined(bias);
    return takesHostPath(x.device()) ? ConvolutionFunction::apply(x, weight, added, groups)
                                     : at::conv1d(x, weight, added, 1, at::IntArrayRef{0}, 1, groups);
}

} // namespace residua::engine
