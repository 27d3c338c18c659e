// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ops/fused.h"

#include "engine/compute/ops/transformer_kernels.h"
#include "engine/compute/runtime/host_path.h"
#include "engine/compute/runtime/rounded_weights.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>
#include <ATen/ops/sin.h>
#include <torch/csrc/autograd/custom_function.h>

#include <numbers>
#include <optional>
#include <typeinfo>

namespace residua::engine {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::Variable;
using torch::autograd::variable_list;

/// Returns the distance between rows in elements if all rows are equally spaced and features are adjacent, else 0.
std::int64_t rowStride(const at::Tensor& x)
{
    if (x.stride(-1) != 1) {
        return 0;
    }
    std::int64_t expected = x.stride(-2);
    for (std::int64_t dim = x.dim() - 2; dim >= 0; --dim) {
        if (x.size(dim) != 1 && x.stride(dim) != expected) {
            return 0;
        }
        expected *= x.size(dim);
    }
    return x.stride(-2);
}

class LinearFunction : public Function<LinearFunction> {
public:
    /// `copy` and `added` are weight and bias in the type of `x`. The gradients of weight and bias have their own
    /// types.
    static Variable forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, const at::Tensor& copy,
                            const std::optional<at::Tensor>& added, Products products)
    {
        const at::Tensor rows = reshaped(x, {-1, x.size(-1)});
        std::vector<std::int64_t> shape = x.sizes().vec();
        shape.back() = weight.size(0);
        context->save_for_backward({rows, copy});
        context->saved_data["products"] = static_cast<std::int64_t>(products);
        context->saved_data["type"] = weight.scalar_type();
        if (!bias) {
            return timesTransposed(rows, copy, products).view(shape);
        }
        context->saved_data["biasType"] = bias->scalar_type();
        return products == Products::Own ? at::addmm(*added, rows, copy.t()).view(shape)
                                         : timesTransposed(rows, copy, products).add_(*added).view(shape);
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        const variable_list saved = context->get_saved_variables();
        const at::Tensor rowsGrad = grads[0].reshape({-1, grads[0].size(-1)});
        variable_list result(6);
        if (context->needs_input_grad(0)) {
            std::vector<std::int64_t> shape = grads[0].sizes().vec();
            shape.back() = saved[1].size(1);
            const auto products = static_cast<Products>(context->saved_data["products"].toInt());
            result[0] = times(rowsGrad, saved[1], products).view(shape);
        }
        if (context->needs_input_grad(1)) { // not if its tower is frozen
            result[1] = weightGradient(rowsGrad, saved[0], context->saved_data["type"].toScalarType());
        }
        if (const auto type = context->saved_data.find("biasType"); type != context->saved_data.end()) {
            result[2] = rowsGrad.sum(0, false, type->second.toScalarType());
        }
        return result;
    }
};

/// Returns `copy`, which is `weight` in a narrower type. The gradient is that of a conversion.
class RoundedFunction : public Function<RoundedFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& weight, const at::Tensor& copy)
    {
        context->saved_data["type"] = weight.scalar_type();
        return copy;
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        return {grads[0].to(context->saved_data["type"].toScalarType()), Variable()};
    }
};

class SwigluFunction : public Function<SwigluFunction> {
public:
    static Variable forward(AutogradContext* context, at::Tensor gate, at::Tensor up)
    {
        if (rowStride(gate) == 0 || rowStride(gate) != rowStride(up)) {
            gate = gate.contiguous();
            up = up.contiguous();
        }
        context->save_for_backward({gate, up});
        return gated(gate, up);
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        const variable_list saved = context->get_saved_variables();
        const at::Tensor& gate = saved[0];
        const at::Tensor gateGrad = at::empty(gate.sizes(), gate.options());
        const at::Tensor upGrad = at::empty(gate.sizes(), gate.options());
        gatedBackward(gate, saved[1], grads[0].contiguous(), gateGrad, upGrad);
        return {gateGrad, upGrad};
    }
};

/// Rotates by LibTorch's operators; with `sign` −1, rotates backwards. Sums have the precision of the angles and are
/// rounded once.
void rotateByParts(const at::Tensor& in, const at::Tensor& out, const RotaryTable::Angles& angles, double sign)
{
    const std::int64_t half = angles.cosine.size(1);
    const at::Tensor cosine = angles.cosine.narrow(0, 0, in.size(1)).unsqueeze(1);
    const at::Tensor sine = angles.sine.narrow(0, 0, in.size(1)).unsqueeze(1);
    // `out` may be `in`.
    const at::Tensor first = in.is_alias_of(out) ? in.narrow(3, 0, half).clone() : in.narrow(3, 0, half);
    const at::Tensor second = in.narrow(3, half, half);
    const at::Tensor secondTurned = second * cosine;
    at::Tensor turnedFirst = out.narrow(3, 0, half);
    at::Tensor turnedSecond = out.narrow(3, half, half);
    at::addcmul_out(turnedFirst, first * cosine, second, sine, -sign);
    at::addcmul_out(turnedSecond, secondTurned, first, sine, sign);
    if (const std::int64_t still = in.size(3) - 2 * half; still > 0) {
        out.narrow(3, 2 * half, still).copy_(in.narrow(3, 2 * half, still));
    }
}

at::Tensor turned(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine, kernels::Rotation rotation)
{
    at::Tensor out = at::empty(x.sizes(), x.options());
    rotate(x, out, {cosine, sine}, rotation);
    return out;
}

at::Tensor featuresAdjacent(const at::Tensor& x)
{
    return x.stride(-1) == 1 ? x : x.contiguous();
}

class RotaryFunction : public Function<RotaryFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& cosine,
                            const at::Tensor& sine)
    {
        context->save_for_backward({cosine, sine});
        return turned(featuresAdjacent(x), cosine, sine, kernels::Rotation::forward);
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        const variable_list saved = context->get_saved_variables();
        return {turned(featuresAdjacent(grads[0]), saved[0], saved[1], kernels::Rotation::backward), Variable(),
                Variable()};
    }
};

/// Returns the frequency of each pair of rotated features, in radians per position: [features / 2].
at::Tensor frequenciesOf(const projects::RotaryPositions& positions)
{
    const at::Tensor exponents =
        at::arange(0, positions.features, 2, at::kDouble) / static_cast<double>(positions.features);
    at::Tensor frequencies = at::pow(positions.base, -exponents);
    switch (positions.scaling) {
    case projects::RopeScaling::Linear:
        frequencies = frequencies / positions.factor;
        break;
    case projects::RopeScaling::Llama3: {
        const at::Tensor turns = frequencies * (static_cast<double>(positions.original) / (2 * std::numbers::pi));
        const at::Tensor kept = at::clamp((turns - positions.low) / (positions.high - positions.low), 0, 1);
        frequencies = frequencies * (kept + (1 - kept) / positions.factor);
        break;
    }
    case projects::RopeScaling::None:
        break;
    }
    return frequencies;
}

} // namespace

at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up)
{
    return SwigluFunction::apply(gate, up);
}

at::Tensor largestOfRows(const at::Tensor& x)
{
    return x.scalar_type() == at::kBFloat16 && hasTransformerKernels(x.device())
               ? at::empty({x.numel() / x.size(-1)}, x.options().dtype(at::kFloat))
               : at::Tensor();
}

at::Tensor gated(const at::Tensor& gate, const at::Tensor& up, const at::Tensor& largest)
{
    at::Tensor out = at::empty(gate.sizes(), gate.options());
    if (!hasTransformerKernels(gate.device())) {
        at::silu_out(out, gate);
        return out.mul_(up);
    }
    kernels::SwigluForward swiglu;
    swiglu.dataType = kernelType(gate.scalar_type());
    swiglu.width = gate.size(-1);
    swiglu.tokens = gate.numel() / swiglu.width;
    swiglu.gate = gate.const_data_ptr();
    swiglu.up = up.const_data_ptr();
    swiglu.rowStride = rowStride(gate);
    swiglu.out = out.mutable_data_ptr();
    swiglu.largest = largest.defined() ? largest.mutable_data_ptr() : nullptr;
    runKernel(gate.device(), swiglu);
    return out;
}

void gatedBackward(const at::Tensor& gate, const at::Tensor& up, const at::Tensor& outGrad, at::Tensor gateGrad,
                   at::Tensor upGrad, const at::Tensor& largest)
{
    if (!hasTransformerKernels(gate.device())) {
        at::mul_out(gateGrad, outGrad, up);
        at::silu_backward_out(gateGrad, gateGrad, gate);
        at::silu_out(upGrad, gate);
        upGrad.mul_(outGrad);
        return;
    }
    kernels::SwigluBackward swiglu;
    swiglu.dataType = kernelType(gate.scalar_type());
    swiglu.width = gate.size(-1);
    swiglu.tokens = gate.numel() / swiglu.width;
    swiglu.gate = gate.const_data_ptr();
    swiglu.up = up.const_data_ptr();
    swiglu.rowStride = rowStride(gate);
    swiglu.outGrad = outGrad.const_data_ptr();
    swiglu.gateGrad = gateGrad.mutable_data_ptr();
    swiglu.upGrad = upGrad.mutable_data_ptr();
    swiglu.gradRowStride = rowStride(gateGrad);
    swiglu.largest = largest.defined() ? largest.mutable_data_ptr() : nullptr;
    runKernel(gate.device(), swiglu);
}

RotaryTable::RotaryTable(const Compute& compute, const projects::RotaryPositions& positions)
    : m_compute(compute), m_positions(positions)
{
}

const RotaryTable::Angles& RotaryTable::upTo(std::int64_t time)
{
    if (!m_angles.cosine.defined() || m_angles.cosine.size(0) < time) {
        const at::Tensor angles = at::outer(at::arange(time, at::kDouble), frequenciesOf(m_positions));
        m_angles.cosine = at::cos(angles).to(m_compute.device, m_compute.parameterType);
        m_angles.sine = at::sin(angles).to(m_compute.device, m_compute.parameterType);
    }
    return m_angles;
}

std::shared_ptr<RotaryTable> RotaryTables::get(const Compute& compute, const projects::RotaryPositions& positions)
{
    std::shared_ptr<RotaryTable>& table = m_tables[positions];
    if (!table) {
        table = std::make_shared<RotaryTable>(compute, positions);
    }
    return table;
}

void rotate(const at::Tensor& in, const at::Tensor& out, const RotaryTable::Angles& angles, kernels::Rotation rotation)
{
    if (!hasTransformerKernels(in.device())) {
        return rotateByParts(in, out, angles, rotation == kernels::Rotation::forward ? 1 : -1);
    }
    kernels::Rotary rotary;
    rotary.dataType = kernelType(in.scalar_type());
    rotary.rotation = rotation;
    rotary.batch = in.size(0);
    rotary.time = in.size(1);
    rotary.heads = in.size(2);
    rotary.headWidth = in.size(3);
    rotary.rotated = 2 * angles.cosine.size(1);
    rotary.cosine = angles.cosine.const_data_ptr();
    rotary.sine = angles.sine.const_data_ptr();
    rotary.in = in.const_data_ptr();
    rotary.inStrides = {in.stride(0), in.stride(1), in.stride(2)};
    rotary.out = out.mutable_data_ptr();
    rotary.outStrides = {out.stride(0), out.stride(1), out.stride(2)};
    runKernel(in.device(), rotary);
}

at::Tensor rotary(const at::Tensor& x, const RotaryTable::Angles& angles)
{
    return RotaryFunction::apply(x, angles.cosine, angles.sine);
}

at::Tensor rounded(const Compute& compute, const at::Tensor& weight)
{
    if (!weight.defined() || weight.scalar_type() == compute.activationType) {
        return weight;
    }
    const at::Tensor copy = compute.rounded ? compute.rounded->of(weight) : at::Tensor();
    if (!copy.defined()) {
        return weight.to(compute.activationType);
    }
    // A conversion of columns of a matrix makes them adjacent.
    return RoundedFunction::apply(weight, copy.is_non_overlapping_and_dense() ? copy : copy.clone());
}

bool readsRounded(const torch::autograd::Node& node)
{
    using torch::autograd::CppNode;
    return typeid(node) == typeid(CppNode<LinearFunction>) || typeid(node) == typeid(CppNode<RoundedFunction>);
}

at::Tensor linear(const Compute& compute, const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias)
{
    const at::Tensor typed = x.to(compute.activationType);
    const at::Tensor copy = rounded(compute, weight.detach());
    const bool inEightBits = compute.products == Products::EightBit && multipliesInEightBits(typed, copy);
    const bool asFloat = multipliesAsFloat(typed) && !inEightBits;
    if (asFloat && bias.defined()) {
        return at::linear(typed.to(at::kFloat), weight.to(at::kFloat), bias.to(at::kFloat)).to(typed.scalar_type());
    }
    const bool isNarrow = weight.scalar_type() != typed.scalar_type();
    const bool isOwn = takesHostPath(x.device()) && typed.scalar_type() == at::kFloat && !bias.defined();
    if (isNarrow || inEightBits || asFloat || isOwn) {
        const auto given = [&](const at::Tensor& tensor) {
            return tensor.defined() ? std::optional(tensor) : std::nullopt;
        };
        return LinearFunction::apply(typed, weight, given(bias), copy,
                                     given(bias.defined() ? rounded(compute, bias.detach()) : bias),
                                     inEightBits ? Products::EightBit : Products::Own);
    }
    return at::linear(typed, weight, bias);
}

} // namespace residua::engine
