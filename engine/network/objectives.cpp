// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/network/objectives.h"

#include "engine/runtime/fixed_bits.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss.h>

#include <cstddef>

namespace residua::engine {
namespace {

using projects::Objective;

at::Tensor atLeastSingle(const at::Tensor& values)
{
    return values.to(values.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
}

at::Tensor errorOf(const at::Tensor& output, const at::Tensor& target)
{
    const at::Tensor values = atLeastSingle(output);
    return values - target.to(values.scalar_type());
}

at::Tensor nextToken(const at::Tensor& output, const at::Tensor& target, const Pass&)
{
    const at::Tensor logits = atLeastSingle(output);
    return at::cross_entropy_loss(logits.view({-1, logits.size(-1)}), target.view({-1}));
}

at::Tensor halfSquaredError(const at::Tensor& output, const at::Tensor& target, const Pass&)
{
    const at::Tensor error = errorOf(output, target);
    return sumOfAll(error * error) * (0.5 / static_cast<double>(error.size(0)));
}

at::Tensor meanSquaredError(const at::Tensor& output, const at::Tensor& target, const Pass&)
{
    const at::Tensor error = errorOf(output, target);
    return sumOfAll(error * error) / static_cast<double>(error.numel());
}

constexpr ObjectiveEntry kTable[] = {
    {Objective::NextToken, nextToken},
    {Objective::HalfSquaredError, halfSquaredError},
    {Objective::MeanSquaredError, meanSquaredError},
};
static_assert(projects::hasEachObjective(kTable));

} // namespace

const ObjectiveEntry& entryOf(Objective objective)
{
    return kTable[static_cast<std::size_t>(objective)];
}

} // namespace residua::engine
