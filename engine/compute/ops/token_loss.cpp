// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ops/operators.h"

#include "engine/compute/ops/transformer_kernels.h"

#include "projects/cost/cost.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/mul.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/graph_task.h>

#include <algorithm>

namespace residua::engine {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::Variable;
using torch::autograd::variable_list;

at::ScalarType lossType(const at::Tensor& logits)
{
    return logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

/// The memory for the gradients of logits [N, V], which may be that of the logits.
struct RowGradients {
    at::Tensor rows;   ///< [N, V], or undefined if not wanted
    double factor = 1; ///< multiplies the derivatives of the rows' losses
};

/// Returns the losses of the rows of `logits` [N, V] against `target` [N].
at::Tensor rowLosses(const at::Tensor& logits, const at::Tensor& target, const RowGradients& gradients,
                     std::int64_t rows)
{
    const at::Tensor losses = at::empty({logits.size(0)}, logits.options().dtype(lossType(logits)));
    for (std::int64_t first = 0; first < logits.size(0); first += rows) {
        const std::int64_t count = std::min(rows, logits.size(0) - first);
        const at::Tensor tokens = target.narrow(0, first, count).unsqueeze(1);
        const at::Tensor values = at::log_softmax(logits.narrow(0, first, count).to(losses.scalar_type()), 1);
        const at::Tensor chosen = values.gather(1, tokens);
        losses.narrow(0, first, count).copy_(chosen.squeeze(1));
        if (gradients.rows.defined()) {
            // Subtracts the 1 in the loss's precision, because the logits' type has too few digits near 1.
            values.exp_().scatter_(1, tokens, chosen.exp().sub_(1)).mul_(gradients.factor);
            gradients.rows.narrow(0, first, count).copy_(values);
        }
    }
    return losses.neg_();
}

/// Returns the losses by the kernel, likewise.
at::Tensor kernelLosses(const at::Tensor& logits, const at::Tensor& target, const RowGradients& gradients)
{
    at::Tensor losses = at::empty({logits.size(0)}, logits.options().dtype(lossType(logits)));
    kernels::CrossEntropy entropy;
    entropy.dataType = kernelType(logits.scalar_type());
    entropy.targetType = target.scalar_type() == at::kInt ? kernels::IndexType::int32 : kernels::IndexType::int64;
    entropy.tokens = logits.size(0);
    entropy.classes = logits.size(1);
    entropy.logits = logits.const_data_ptr();
    entropy.rowStride = entropy.classes;
    entropy.targets = target.const_data_ptr();
    entropy.loss = losses.mutable_data_ptr();
    if (gradients.rows.defined()) {
        entropy.grad = gradients.rows.mutable_data_ptr();
        entropy.gradRowStride = entropy.classes;
        entropy.factor = gradients.factor;
    }
    runKernel(logits.device(), entropy);
    return losses;
}

/// Returns the mean loss of `logits` [..., V] against `target` [N]. Writes the gradients unless their rows are
/// undefined.
at::Tensor meanLoss(const at::Tensor& logits, const at::Tensor& target, const RowGradients& gradients,
                    std::int64_t rows)
{
    const at::Tensor flat = logits.reshape({-1, logits.size(-1)});
    return hasTransformerKernels(logits.device()) ? kernelLosses(flat.contiguous(), target, gradients).mean()
                                                  : rowLosses(flat, target, gradients, rows).mean();
}

class TokenLossFunction : public Function<TokenLossFunction> {
public:
    /// `gradient` stores the gradient until the backward.
    static Variable forward(AutogradContext* context, const at::Tensor& logits, const at::Tensor& target,
                            const at::Tensor& gradient, std::int64_t rows, const LossGradient& expected)
    {
        const RowGradients gradients{gradient.view({-1, logits.size(-1)}),
                                     expected.value / static_cast<double>(target.numel())};
        context->save_for_backward({gradient});
        context->saved_data["expected"] = expected.tensor;
        context->saved_data["value"] = expected.value;
        return meanLoss(logits, target, gradients, rows);
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        TORCH_CHECK(!at::GradMode::is_enabled(), "the loss of tokens has no second derivative");
        const at::Tensor kept = context->get_saved_variables()[0];
        const bool comesAgain = torch::autograd::get_current_graph_task_keep_graph();
        at::Tensor gradient = comesAgain ? at::empty_like(kept) : kept;
        if (grads[0].is_same(context->saved_data["expected"].toTensor())) {
            if (comesAgain) {
                gradient.copy_(kept);
            }
        } else {
            // One-dimensional, because a zero-dimensional factor would be rounded to the gradient's type.
            at::mul_out(gradient, kept, (grads[0] / context->saved_data["value"].toDouble()).view({1}));
        }
        return {gradient, Variable(), Variable(), Variable(), Variable()};
    }
};

} // namespace

std::int64_t tokenLossRows(const at::Tensor& logits)
{
    return projects::lossRows(logits.size(-1), static_cast<double>(c10::elementSize(lossType(logits))));
}

at::Tensor tokenLoss(at::Tensor logits, const at::Tensor& target, std::int64_t rows, const LossGradient& expected)
{
    const bool isOwn =
        !logits.is_leaf() && logits.is_contiguous() && logits.use_count() == 1 && logits.storage().use_count() == 1;
    at::Tensor tokens = target.reshape({-1});
    tokens = hasTransformerKernels(logits.device()) ? tokens.contiguous() : tokens.to(at::kLong);
    if (!at::GradMode::is_enabled() || !logits.requires_grad()) {
        return meanLoss(logits, tokens, {}, rows);
    }
    const at::Tensor gradient = isOwn ? logits.detach() : at::empty(logits.sizes(), logits.options());
    return TokenLossFunction::apply(logits, tokens, gradient, rows, expected);
}

} // namespace residua::engine
