// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/network/value_losses.h"

#include "projects/base/mapped.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/ops/cdist.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/diagonal.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>

namespace residua::engine {
namespace {

/// Returns the mean over all dimensions but the last of T²·KL(softmax(target/T) ‖ softmax(output/T)).
at::Tensor softTargets(const at::Tensor& output, const at::Tensor& target, double temperature)
{
    const at::ScalarType type = output.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const at::Tensor mine = at::log_softmax(output.to(type) / temperature, -1);
    const at::Tensor wanted = at::log_softmax(target.to(type) / temperature, -1);
    const at::Tensor divergence = at::sum(at::exp(wanted) * (wanted - mine), -1);
    return at::mean(divergence) * (temperature * temperature);
}

at::Tensor contrastive(const at::Tensor& output, const at::Tensor& target, double penalty)
{
    constexpr std::int64_t kFromDifferences = 2; // products of matrices would lose small distances to rounding
    const at::Tensor energies = -at::cdist(output, target, 2, kFromDifferences);
    const at::Tensor normalisers = at::logsumexp(energies, {1});
    const at::Tensor loss = at::mean(normalisers - at::diagonal(energies));
    return penalty == 0 ? loss : loss + at::mean(normalisers * normalisers) * penalty;
}

at::Tensor crossEntropy(const at::Tensor& output, const at::Tensor& target, at::Reduction::Reduction reduction)
{
    const at::Tensor logits = output.to(output.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
    return at::cross_entropy_loss(logits.reshape({-1, logits.size(-1)}), target.reshape({-1}).to(at::kLong), {},
                                  reduction, projects::kIgnoredTarget);
}

/// True if a loss compares values of tokens in rows that have padding. `targets` are the batch's.
bool isPadded(const at::Tensor& output, const at::Tensor& target, const at::Tensor& targets, const Pass& pass)
{
    return pass.rows && target.sizes() == output.sizes() && output.dim() == 3 &&
           output.sizes().slice(0, 2) == targets.sizes();
}

} // namespace

at::Tensor valueLoss(const projects::Loss& loss, const at::Tensor& output, const at::Tensor& target)
{
    const at::ScalarType type = output.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    switch (loss.kind) {
    case projects::LossKind::SoftTargets:
        return softTargets(output, target, loss.temperature);
    case projects::LossKind::SquaredError: {
        const at::Tensor error = output.to(type) - target.to(type);
        return at::mean(error * error);
    }
    case projects::LossKind::Contrastive:
        return contrastive(output.to(type), target.to(type), loss.penalty);
    case projects::LossKind::Mean:
        return at::mean(output.to(type));
    case projects::LossKind::CrossEntropy:
    case projects::LossKind::ExpectedExit: // its visits are those of ExitLosses
        break;
    }
    return crossEntropy(output, target, at::Reduction::Mean);
}

at::Tensor valueLossOf(const projects::Loss& loss, const at::Tensor& target, const Pass& pass)
{
    const at::Tensor& output = pass.inputs.at(loss.output);
    if (!hasTarget(loss.kind)) {
        return valueLoss(loss, output, {});
    }
    const at::Tensor given = loss.target.empty() ? target : pass.inputs.at(loss.target);
    const at::Tensor compared = trainsTarget(loss.kind) ? given : given.detach();
    if (!isPadded(output, compared, target, pass)) {
        return valueLoss(loss, output, compared);
    }
    // Makes both values equal at the other tokens, so that their loss is 0.
    const at::Tensor kept = target.ne(projects::kIgnoredTarget);
    const at::Tensor mean = valueLoss(loss, at::where(kept.unsqueeze(2), output, compared), compared);
    return mean * (static_cast<double>(kept.numel()) / kept.sum().clamp_min(1).to(mean.scalar_type()));
}

bool isOverTargets(const projects::Loss& loss, const at::Tensor& target, const Pass& pass)
{
    return loss.kind == projects::LossKind::ExpectedExit ||
           (loss.target.empty() ? loss.kind == projects::LossKind::CrossEntropy
                                : isPadded(pass.inputs.at(loss.output), pass.inputs.at(loss.target), target, pass));
}

at::Tensor ExitLosses::meanOf(const at::Tensor& values) const
{
    return (values * counts).sum() / counts.sum().clamp_min(1);
}

at::Tensor ExitLosses::expected(double entropyFactor) const
{
    return meanOf((logShares.exp() * (losses + entropyFactor * logShares)).sum(-1));
}

ExitLosses exitLosses(const std::vector<at::Tensor>& outputs, const at::Tensor& logShares, const at::Tensor& target)
{
    const auto losses =
        mapped(outputs, [&](const at::Tensor& output) { return crossEntropy(output, target, at::Reduction::None); });
    const at::Tensor all = at::stack(losses, -1);
    return {all, logShares.reshape({-1, logShares.size(-1)}).to(all.scalar_type()),
            target.reshape({-1}).ne(projects::kIgnoredTarget).to(all.scalar_type())};
}

} // namespace residua::engine
