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
#include <utility>

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

/// Returns the losses of the rows of `logits` [N, V] against `target` [N]. If `gradient` [N, V] is defined, writes the
/// derivative of their sum by the logits to it; it may share the logits' memory.
at::Tensor rowLosses(const at::Tensor& logits, const at::Tensor& target, const at::Tensor& gradient, std::int64_t rows)
{
    const at::Tensor losses = at::empty({logits.size(0)}, logits.options().dtype(lossType(logits)));
    for (std::int64_t first = 0; first < logits.size(0); first += rows) {
        const std::int64_t count = std::min(rows, logits.size(0) - first);
        const at::Tensor tokens = target.narrow(0, first, count).unsqueeze(1);
        const at::Tensor values = at::log_softmax(logits.narrow(0, first, count).to(losses.scalar_type()), 1);
        const at::Tensor chosen = values.gather(1, tokens);
        losses.narrow(0, first, count).copy_(chosen.squeeze(1));
        if (gradient.defined()) {
            // Subtracts the 1 in the loss's precision, because the logits' type has too few digits near 1.
            values.exp_().scatter_(1, tokens, chosen.exp().sub_(1));
            gradient.narrow(0, first, count).copy_(values);
        }
    }
    return losses.neg_();
}

class TokenLossFunction : public Function<TokenLossFunction> {
public:
    /// `gradient` stores the gradient until the backward.
    static Variable forward(AutogradContext* context, const at::Tensor& logits, const at::Tensor& target,
                            const at::Tensor& gradient, std::int64_t rows)
    {
        const std::int64_t width = logits.size(-1);
        const at::Tensor losses = rowLosses(logits.reshape({-1, width}), target, gradient.view({-1, width}), rows);
        context->save_for_backward({gradient});
        context->saved_data["tokens"] = losses.size(0);
        return losses.mean();
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        TORCH_CHECK(!at::GradMode::is_enabled(), "the loss of tokens has no second derivative");
        const at::Tensor kept = context->get_saved_variables()[0];
        // One-dimensional, because a zero-dimensional factor would be rounded to the gradient's type.
        const at::Tensor factor = (grads[0] / context->saved_data["tokens"].toInt()).view({1});
        const bool comesAgain = torch::autograd::get_current_graph_task_keep_graph();
        at::Tensor gradient = comesAgain ? at::empty_like(kept) : kept;
        at::mul_out(gradient, kept, factor);
        return {gradient, Variable(), Variable(), Variable()};
    }
};

/// Returns the kernel's call for the rows of `logits` [N, V] and `target` [N], without requested results.
kernels::CrossEntropy entropyOf(const at::Tensor& logits, const at::Tensor& target)
{
    kernels::CrossEntropy entropy;
    entropy.dataType = kernelType(logits.scalar_type());
    entropy.targetType = target.scalar_type() == at::kInt ? kernels::IndexType::int32 : kernels::IndexType::int64;
    entropy.tokens = logits.size(0);
    entropy.classes = logits.size(1);
    entropy.logits = logits.const_data_ptr();
    entropy.rowStride = logits.size(1);
    entropy.targets = target.const_data_ptr();
    return entropy;
}

at::Tensor fusedLoss(const at::Tensor& logits, const at::Tensor& target)
{
    at::Tensor losses = at::empty({logits.size(0)}, logits.options().dtype(lossType(logits)));
    kernels::CrossEntropy entropy = entropyOf(logits, target);
    entropy.loss = losses.mutable_data_ptr();
    runKernel(logits.device(), entropy);
    return losses.mean();
}

/// Uses the kernel: the backward reads the logits again and writes their scaled gradient.
class FusedTokenLossFunction : public Function<FusedTokenLossFunction> {
public:
    /// `own`: the gradient may overwrite the logits.
    static Variable forward(AutogradContext* context, const at::Tensor& logits, const at::Tensor& target, bool own)
    {
        const at::Tensor rows = logits.reshape({-1, logits.size(-1)}).contiguous();
        context->save_for_backward({rows, target});
        context->saved_data["shape"] = logits.sizes();
        context->saved_data["own"] = own;
        return fusedLoss(rows, target);
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        TORCH_CHECK(!at::GradMode::is_enabled(), "the loss of tokens has no second derivative");
        const variable_list saved = context->get_saved_variables();
        const bool comesAgain = torch::autograd::get_current_graph_task_keep_graph();
        at::Tensor gradient =
            context->saved_data["own"].toBool() && !comesAgain ? saved[0].detach() : at::empty_like(saved[0]);
        const at::Tensor scale = grads[0].contiguous();
        kernels::CrossEntropy entropy = entropyOf(saved[0], saved[1]);
        entropy.grad = gradient.mutable_data_ptr();
        entropy.gradRowStride = entropy.classes;
        entropy.factor = 1.0 / static_cast<double>(entropy.tokens);
        entropy.gradScale = scale.const_data_ptr();
        runKernel(saved[0].device(), entropy);
        return {gradient.view(context->saved_data["shape"].toIntVector()), Variable(), Variable()};
    }
};

} // namespace

std::int64_t tokenLossRows(const at::Tensor& logits)
{
    return projects::lossRows(logits.size(-1), static_cast<double>(c10::elementSize(lossType(logits))));
}

at::Tensor tokenLoss(at::Tensor logits, const at::Tensor& target, std::int64_t rows)
{
    const bool differentiates = at::GradMode::is_enabled() && logits.requires_grad();
    const bool isOwn =
        !logits.is_leaf() && logits.is_contiguous() && logits.use_count() == 1 && logits.storage().use_count() == 1;
    if (hasTransformerKernels(logits.device())) {
        const at::Tensor tokens = target.reshape({-1}).contiguous();
        return differentiates ? FusedTokenLossFunction::apply(logits, tokens, isOwn)
                              : fusedLoss(logits.reshape({-1, logits.size(-1)}).contiguous(), tokens);
    }
    const at::Tensor tokens = target.reshape({-1}).to(at::kLong);
    if (!differentiates) {
        return rowLosses(logits.reshape({-1, logits.size(-1)}), tokens, {}, rows).mean();
    }
    const at::Tensor gradient = isOwn ? logits.detach() : at::empty(logits.sizes(), logits.options());
    return TokenLossFunction::apply(logits, tokens, gradient, rows);
}

} // namespace residua::engine
