// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ops/norm.h"

#include "engine/compute/ops/transformer_kernels.h"
#include "engine/compute/runtime/scaled_products.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/rms_norm.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdint>
#include <optional>

namespace residua::engine {
namespace {

using kernels::NormKind;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::Variable;
using torch::autograd::variable_list;

void* addressOf(const at::Tensor& tensor)
{
    return tensor.defined() ? tensor.mutable_data_ptr() : nullptr;
}

/// The norm of x, or of x + branch, by the custom kernels, and what it is the norm of if `returnsSum`. The norm is in
/// the type of `x`, or in bfloat16 if `narrows` (a float32 `x` on a GPU; `branch` is then bfloat16 too).
class NormFunction : public Function<NormFunction> {
public:
    static variable_list forward(AutogradContext* context, const at::Tensor& input,
                                 const std::optional<at::Tensor>& branch, const at::Tensor& weight,
                                 const std::optional<at::Tensor>& bias, NormKind kind, double epsilon, bool narrows,
                                 bool notesLargest, bool returnsSum)
    {
        at::Tensor x = input.contiguous();
        const at::Tensor residual = branch ? branch->contiguous() : at::Tensor();
        const at::Tensor sum = branch ? at::empty_like(x) : at::Tensor();
        const std::int64_t width = x.size(-1);
        const at::ScalarType single = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
        at::Tensor y = at::empty_like(x, narrows ? at::kBFloat16 : x.scalar_type());
        const at::Tensor rstd = at::empty({x.numel() / width}, x.options().dtype(single));
        const at::Tensor mean = kind == NormKind::layer ? at::empty_like(rstd) : at::Tensor();
        const bool notes = notesLargest && y.scalar_type() == at::kBFloat16;
        const at::Tensor largest = notes ? at::empty_like(rstd) : at::Tensor();
        kernels::NormForward norm;
        norm.dataType = kernelType(x.scalar_type());
        norm.tokens = x.numel() / width;
        norm.width = width;
        norm.eps = epsilon;
        norm.x = x.const_data_ptr();
        norm.residual = addressOf(residual);
        norm.weight = weight.const_data_ptr();
        norm.sum = addressOf(sum);
        norm.y = y.mutable_data_ptr();
        norm.rstd = rstd.mutable_data_ptr();
        norm.bfloat16Output = narrows;
        norm.kind = kind;
        norm.bias = bias ? bias->const_data_ptr() : nullptr;
        norm.mean = addressOf(mean);
        norm.largest = addressOf(largest);
        runKernel(x.device(), norm);
        if (notes) {
            noteLargest(y, largest);
        }
        context->save_for_backward({branch ? sum : x, weight, rstd, mean});
        context->saved_data["branch"] = branch.has_value();
        context->saved_data["bias"] = bias.has_value();
        context->saved_data["narrows"] = narrows;
        context->set_materialize_grads(false);
        if (branch && !input.requires_grad() && !branch->requires_grad()) {
            context->mark_non_differentiable({sum});
        }
        return returnsSum ? variable_list{y, branch ? sum : x} : variable_list{y};
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        const variable_list saved = context->get_saved_variables();
        const at::Tensor& x = saved[0];
        const bool hasBranch = context->saved_data["branch"].toBool();
        const bool narrows = context->saved_data["narrows"].toBool();
        const at::Tensor sumGrad = grads.size() > 1 && grads[1].defined() ? grads[1].contiguous() : at::Tensor();
        variable_list result(9);
        if (!grads[0].defined()) {
            result[0] = sumGrad;
            if (hasBranch && sumGrad.defined()) {
                result[1] = narrows ? sumGrad.to(at::kBFloat16) : sumGrad;
            }
            return result;
        }
        const at::Tensor yGrad = grads[0].contiguous();
        at::Tensor xGrad = at::empty_like(x);
        at::Tensor weightGrad = at::empty_like(saved[1]);
        at::Tensor biasGrad = context->saved_data["bias"].toBool() ? at::empty_like(weightGrad) : at::Tensor();
        at::Tensor branchGrad = hasBranch ? xGrad : at::Tensor();
        kernels::NormBackward norm;
        norm.dataType = kernelType(x.scalar_type());
        norm.width = x.size(-1);
        norm.tokens = x.numel() / norm.width;
        norm.yGrad = yGrad.const_data_ptr();
        norm.x = x.const_data_ptr();
        norm.rstd = saved[2].const_data_ptr();
        norm.weight = saved[1].const_data_ptr();
        norm.sumGrad = sumGrad.defined() ? sumGrad.const_data_ptr() : nullptr;
        norm.xGrad = xGrad.mutable_data_ptr();
        norm.weightGrad = weightGrad.mutable_data_ptr();
        norm.bfloat16Output = narrows;
        norm.kind = saved[3].defined() ? NormKind::layer : NormKind::rms;
        norm.mean = addressOf(saved[3]);
        norm.biasGrad = addressOf(biasGrad);
        if (hasBranch && norm.bfloat16Output) {
            branchGrad = at::empty_like(yGrad);
            norm.residualGrad = branchGrad.mutable_data_ptr();
        }
        norm.workspaceBytes = workspaceOf(x.device(), norm);
        const at::Tensor workspace =
            at::empty({static_cast<std::int64_t>(norm.workspaceBytes)}, x.options().dtype(at::kByte));
        norm.workspace = workspace.mutable_data_ptr();
        runKernel(x.device(), norm);
        result[0] = xGrad;
        result[1] = branchGrad;
        result[2] = weightGrad;
        result[3] = biasGrad;
        return result;
    }
};

/// Whether the norm of a float32 `x` can leave the kernel in bfloat16.
bool narrowsTo(const at::Tensor& x, at::ScalarType type)
{
    return !x.is_cpu() && x.scalar_type() == at::kFloat && type == at::kBFloat16;
}

std::optional<at::Tensor> ifDefined(const at::Tensor& tensor)
{
    return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

/// True if normalised() has a kernel on the device.
bool hasNormKernel(const Norm& norm, c10::Device device)
{
    return device.is_cpu() ? norm.kind == NormKind::rms : hasTransformerKernels(device);
}

} // namespace

at::Tensor normalised(const Norm& norm, const at::Tensor& x, at::ScalarType type)
{
    if (hasNormKernel(norm, x.device())) {
        return NormFunction::apply(x, std::nullopt, norm.weight, ifDefined(norm.bias), norm.kind, norm.epsilon,
                                   narrowsTo(x, type), norm.notesLargest, false)
            .front()
            .to(type);
    }
    const at::Tensor weight = norm.weight.to(x.scalar_type());
    if (norm.kind == NormKind::rms) {
        return at::rms_norm(x, {x.size(-1)}, weight, norm.epsilon).to(type);
    }
    const at::Tensor bias = norm.bias.defined() ? norm.bias.to(x.scalar_type()) : at::Tensor();
    return at::layer_norm(x, {x.size(-1)}, weight, bias, norm.epsilon).to(type);
}

NormalisedSum normalisedSum(const Norm& norm, const at::Tensor& x, const at::Tensor& branch, at::ScalarType type)
{
    const bool narrows = narrowsTo(x, type);
    const at::ScalarType wanted = narrows ? at::kBFloat16 : x.scalar_type();
    const bool hasNorm = hasNormKernel(norm, x.device());
    const bool adds = hasNorm && branch.defined() && branch.scalar_type() == wanted && branch.sizes() == x.sizes();
    const at::Tensor sum = branch.defined() && !adds ? x + branch : x;
    if (!hasNorm || (!adds && !sum.requires_grad())) {
        return {sum, normalised(norm, sum, type)};
    }
    const variable_list results =
        NormFunction::apply(sum, adds ? std::optional(branch) : std::nullopt, norm.weight, ifDefined(norm.bias),
                            norm.kind, norm.epsilon, narrowsTo(sum, type), norm.notesLargest, true);
    return {results[1], results[0].to(type)};
}

} // namespace residua::engine
