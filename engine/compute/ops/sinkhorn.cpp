// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ops/operators.h"

#include "engine/compute/ops/transformer_kernels.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/exp.h>
#include <torch/csrc/autograd/custom_function.h>

#include <vector>

namespace residua::engine {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::Variable;
using torch::autograd::variable_list;

/// Even divisions are by row sums (over the outputs of a stream), odd ones by column sums (over the inputs of one).
std::int64_t summedBy(std::int64_t division)
{
    return division % 2 == 0 ? 1 : 0;
}

/// A common factor has no effect on the result and keeps exp from overflowing.
at::Tensor start(const at::Tensor& logits)
{
    return at::exp(logits - at::amax(logits, {0, 1}, true));
}

at::Tensor composed(const at::Tensor& logits, std::int64_t iterations)
{
    at::Tensor m = start(logits);
    for (std::int64_t division = 0; division < 2 * iterations; ++division) {
        m.div_(m.sum(summedBy(division), true));
    }
    return m;
}

at::Tensor composedBackward(const at::Tensor& logits, std::int64_t iterations, at::Tensor grad)
{
    std::vector<at::Tensor> states{start(logits)};
    std::vector<at::Tensor> sums;
    for (std::int64_t division = 0; division < 2 * iterations; ++division) {
        sums.push_back(states.back().sum(summedBy(division), true));
        states.push_back(states.back() / sums.back());
    }
    // y = x/Σx: dx = (dy − Σ dy·y)/Σx.
    for (std::int64_t division = 2 * iterations - 1; division >= 0; --division) {
        const auto i = static_cast<std::size_t>(division);
        grad = (grad - (grad * states[i + 1]).sum(summedBy(division), true)) / sums[i];
    }
    return grad * states[0];
}

/// True if one CUDA kernel each way replaces the composition, which launches many for every division.
bool hasKernel(const at::Tensor& logits, std::int64_t iterations)
{
    return logits.is_cuda() && logits.scalar_type() == at::kFloat &&
           kernels::fitsSinkhorn(logits.size(0), iterations) && hasTransformerKernels(logits.device());
}

/// Returns a call with the sizes; `logits` must be contiguous.
template <class Sinkhorn>
Sinkhorn kernelCall(const at::Tensor& logits, std::int64_t iterations)
{
    Sinkhorn call;
    call.size = static_cast<std::int32_t>(logits.size(0));
    call.iterations = static_cast<std::int32_t>(iterations);
    call.matrices = logits.numel() / (logits.size(0) * logits.size(0));
    call.logits = logits.const_data_ptr();
    return call;
}

class SinkhornFunction : public Function<SinkhornFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& logits, std::int64_t iterations)
    {
        const bool byKernel = hasKernel(logits, iterations);
        const at::Tensor given = byKernel ? logits.contiguous() : logits;
        context->save_for_backward({given});
        context->saved_data["iterations"] = iterations;
        if (!byKernel) {
            return composed(given, iterations);
        }
        at::Tensor m = at::empty_like(given);
        auto call = kernelCall<kernels::SinkhornForward>(given, iterations);
        call.out = m.mutable_data_ptr();
        runKernel(given.device(), call);
        return m;
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        const std::int64_t iterations = context->saved_data["iterations"].toInt();
        const at::Tensor logits = context->get_saved_variables()[0];
        if (!hasKernel(logits, iterations)) {
            return {composedBackward(logits, iterations, grads[0]), Variable()};
        }
        const at::Tensor outGrad = grads[0].contiguous();
        at::Tensor logitsGrad = at::empty_like(logits);
        auto call = kernelCall<kernels::SinkhornBackward>(logits, iterations);
        call.outGrad = outGrad.const_data_ptr();
        call.logitsGrad = logitsGrad.mutable_data_ptr();
        runKernel(logits.device(), call);
        return {logitsGrad, Variable()};
    }
};

} // namespace

at::Tensor sinkhorn(const at::Tensor& logits, std::int64_t iterations)
{
    return SinkhornFunction::apply(logits, iterations);
}

} // namespace residua::engine
