// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ops/operators.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/stack.h>
#include <torch/csrc/autograd/custom_function.h>

namespace residua::engine {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::Variable;
using torch::autograd::variable_list;

struct PartsOfPass : torch::CustomClassHolder {
    explicit PartsOfPass(BatchParts given) : parts(std::move(given)) {}
    BatchParts parts;
};

class SharedBatchNorm : public Function<SharedBatchNorm> {
public:
    static variable_list forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                                 const at::Tensor& bias, double epsilon, const BatchParts& parts)
    {
        const double rows = static_cast<double>(x.size(0) * parts.count);
        const at::Tensor mean = x.sum(0);
        parts.sum(mean);
        mean.div_(rows);
        const at::Tensor variance = (x - mean).square_().sum(0);
        parts.sum(variance);
        variance.div_(rows);
        const at::Tensor scale = at::rsqrt(variance + epsilon);
        context->save_for_backward({x, weight, mean, scale});
        context->saved_data["parts"] = c10::IValue::make_capsule(c10::make_intrusive<PartsOfPass>(parts));
        context->mark_non_differentiable({mean, variance});
        return {((x - mean) *= scale * weight) += bias, mean, variance};
    }

    /// With x̂ = (x − mean)·s, ∂x = s·w·(∂y − mean ∂y − x̂·mean(∂y·x̂)), whose means are over the rows of all parts.
    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        const variable_list saved = context->get_saved_variables();
        const at::Tensor& weight = saved[1];
        const at::Tensor& scale = saved[3];
        const auto parts = c10::static_intrusive_pointer_cast<PartsOfPass>(context->saved_data["parts"].toCapsule());
        const at::Tensor normed = (saved[0] - saved[2]).mul_(scale);
        const at::Tensor biasGrad = grads[0].sum(0);
        const at::Tensor weightGrad = (grads[0] * normed).sum(0);
        const at::Tensor means = at::stack({biasGrad, weightGrad});
        parts->parts.sum(means);
        means.div_(static_cast<double>(normed.size(0) * parts->parts.count));
        return {(grads[0] - means[0]).sub_(normed * means[1]).mul_(scale * weight), weightGrad, biasGrad, {}, {}};
    }
};

} // namespace

BatchNormed sharedBatchNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon,
                            const BatchParts& parts)
{
    const variable_list results = SharedBatchNorm::apply(x, weight, bias, epsilon, parts);
    return {results[0], results[1], results[2]};
}

} // namespace residua::engine
