// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/ops/sinkhorn.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/amax.h>
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

class SinkhornFunction : public Function<SinkhornFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& logits, std::int64_t iterations)
    {
        at::Tensor m = start(logits);
        for (std::int64_t division = 0; division < 2 * iterations; ++division) {
            m.div_(m.sum(summedBy(division), true));
        }
        context->save_for_backward({logits});
        context->saved_data["iterations"] = iterations;
        return m;
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        const std::int64_t divisions = 2 * context->saved_data["iterations"].toInt();
        std::vector<at::Tensor> states{start(context->get_saved_variables()[0])};
        std::vector<at::Tensor> sums;
        for (std::int64_t division = 0; division < divisions; ++division) {
            sums.push_back(states.back().sum(summedBy(division), true));
            states.push_back(states.back() / sums.back());
        }
        // y = x/Σx: dx = (dy − Σ dy·y)/Σx.
        at::Tensor grad = grads[0];
        for (std::int64_t division = divisions - 1; division >= 0; --division) {
            const auto i = static_cast<std::size_t>(division);
            grad = (grad - (grad * states[i + 1]).sum(summedBy(division), true)) / sums[i];
        }
        return {grad * states[0], Variable()};
    }
};

} // namespace

at::Tensor sinkhorn(const at::Tensor& logits, std::int64_t iterations)
{
    return SinkhornFunction::apply(logits, iterations);
}

} // namespace residua::engine
