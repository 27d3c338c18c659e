// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/network/objectives.h"

#include "engine/base/api/matrix_name.h"
#include "engine/compute/network/diffusion_loss.h"
#include "engine/compute/ops/operators.h"
#include "engine/compute/runtime/host_path.h"
#include "projects/nodes/example_schema.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/ops/any.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace residua::engine {
namespace {

using projects::Objective;

at::Tensor atLeastSingle(const at::Tensor& values)
{
    return values.to(values.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
}

at::Tensor errorOf(at::Tensor output, const at::Tensor& target)
{
    output = atLeastSingle(output);
    return output - target.to(output.scalar_type());
}

/// Returns the number of targets that are not left out.
at::Tensor targetCount(const at::Tensor& target, const Pass&)
{
    return at::ne(target, projects::kIgnoredTarget).sum();
}

/// Leaves out the targets that are projects::kIgnoredTarget. A batch without others has the loss 0.
at::Tensor maskedToken(at::Tensor output, const LossInputs& of, const Pass& pass)
{
    const at::Tensor logits = atLeastSingle(output);
    const at::Tensor sum =
        at::cross_entropy_loss(logits.view({-1, logits.size(-1)}), of.target.reshape({-1}).to(at::kLong), {},
                               at::Reduction::Sum, projects::kIgnoredTarget);
    return sum / targetCount(of.target, pass).clamp_min(1);
}

at::Tensor nextToken(at::Tensor output, const LossInputs& of, const Pass& pass)
{
    if (pass.rows) { // padding has no target
        return maskedToken(std::move(output), of, pass);
    }
    if (!takesHostPath(output.device())) {
        const std::int64_t rows = tokenLossRows(output);
        return tokenLoss(std::move(output), of.target, rows, pass.lossGradient);
    }
    const at::Tensor logits = atLeastSingle(output);
    return at::cross_entropy_loss(logits.view({-1, logits.size(-1)}), of.target.view({-1}));
}

at::Tensor rowCount(const at::Tensor& target, const Pass& pass)
{
    return pass.rows ? targetCount(target, pass) : at::Tensor();
}

at::Tensor halfSquaredError(at::Tensor output, const LossInputs& of, const Pass&)
{
    const at::Tensor error = errorOf(std::move(output), of.target);
    return at::sum(error * error) * (0.5 / static_cast<double>(error.size(0)));
}

at::Tensor meanSquaredError(at::Tensor output, const LossInputs& of, const Pass&)
{
    const at::Tensor error = errorOf(std::move(output), of.target);
    return at::sum(error * error) / static_cast<double>(error.numel());
}

at::Tensor noiseError(at::Tensor output, const LossInputs& of, const Pass& pass)
{
    output = atLeastSingle(output);
    return of.diffusion->of(output, of.target.to(output.scalar_type()), of.input, pass.inputs.at(projects::kTimestep));
}

/// The loss of mixed examples is that of both labels by their shares.
at::Tensor classification(at::Tensor output, const LossInputs& of, const Pass& pass)
{
    const at::Tensor wide = atLeastSingle(output);
    const at::Tensor logits = wide.view({-1, wide.size(-1)});
    const auto lossOf = [&](const at::Tensor& labels, at::Reduction::Reduction reduction) {
        return at::cross_entropy_loss(logits, labels.reshape({-1}).to(at::kLong), {}, reduction,
                                      projects::kIgnoredTarget, of.smoothing);
    };
    const auto mixed = pass.inputs.find(projects::kMixedLabel);
    if (mixed == pass.inputs.end()) {
        return lossOf(of.target, at::Reduction::Mean);
    }
    const at::Tensor share = pass.inputs.at(projects::kMixedShare).to(logits.scalar_type());
    const at::Tensor own = lossOf(of.target, at::Reduction::None);
    return (own + share * (lossOf(mixed->second, at::Reduction::None) - own)).mean();
}

at::Tensor accuracy(const at::Tensor& output, const at::Tensor& target)
{
    return at::eq(at::argmax(output, -1), target).mean(at::kDouble);
}

/// Returns the share of the examples whose label is among the five largest outputs; undefined if every label is.
at::Tensor topFive(const at::Tensor& output, const at::Tensor& target)
{
    constexpr std::int64_t kFive = 5;
    if (output.size(-1) <= kFive) {
        return {};
    }
    const at::Tensor largest = std::get<1>(at::topk(output, kFive, -1));
    return at::eq(largest, target.unsqueeze(-1)).any(-1).mean(at::kDouble);
}

at::Tensor confusion(const at::Tensor& output, const at::Tensor& target)
{
    const std::int64_t classes = output.size(-1);
    if (classes > matrix::kMostConfusedClasses) {
        return {};
    }
    const at::Tensor cells = target.to(at::kLong) * classes + at::argmax(output, -1);
    const at::Tensor ones = at::ones(cells.sizes(), cells.options().dtype(at::kDouble)); // exact in any order
    return at::zeros({classes * classes}, ones.options()).scatter_add_(0, cells, ones).view({classes, classes});
}

/// Returns the share of the targets that are not left out.
at::Tensor accuracyOfTokens(const at::Tensor& output, const at::Tensor& target)
{
    return at::eq(at::argmax(output, -1), target).sum().to(at::kDouble) / targetCount(target, {}).clamp_min(1);
}

constexpr ObjectiveQuantity kOfTokens[] = {{"accuracy", accuracyOfTokens}};
constexpr ObjectiveQuantity kOfLabels[] = {{"accuracy", accuracy}, {"top5", topFive}};

constexpr ObjectiveEntry kTable[] = {
    {Objective::NextToken, nextToken, kOfTokens, rowCount},
    {Objective::HalfSquaredError, halfSquaredError},
    {Objective::MeanSquaredError, meanSquaredError},
    {Objective::Classification, classification, kOfLabels, nullptr, confusion},
    {Objective::MaskedToken, maskedToken, kOfTokens, targetCount},
    {Objective::Denoising, maskedToken, kOfTokens, targetCount},
    {Objective::TimeAtGoal, meanSquaredError},
    {Objective::Diffusion, noiseError},
};
static_assert(projects::hasEachObjective(kTable));

} // namespace

const ObjectiveEntry& objectiveEntryOf(Objective objective)
{
    return kTable[static_cast<std::size_t>(objective)];
}

} // namespace residua::engine
