// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/network/objectives.h"

#include "engine/ops/token_loss.h"
#include "engine/runtime/host_path.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/sum.h>

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

at::Tensor nextToken(at::Tensor output, const at::Tensor& target, const Pass&)
{
    if (!takesHostPath(output.device())) {
        const std::int64_t rows = tokenLossRows(output);
        return tokenLoss(std::move(output), target, rows);
    }
    const at::Tensor logits = atLeastSingle(output);
    return at::cross_entropy_loss(logits.view({-1, logits.size(-1)}), target.view({-1}));
}

at::Tensor halfSquaredError(at::Tensor output, const at::Tensor& target, const Pass&)
{
    const at::Tensor error = errorOf(std::move(output), target);
    return at::sum(error * error) * (0.5 / static_cast<double>(error.size(0)));
}

at::Tensor meanSquaredError(at::Tensor output, const at::Tensor& target, const Pass&)
{
    const at::Tensor error = errorOf(std::move(output), target);
    return at::sum(error * error) / static_cast<double>(error.numel());
}

at::Tensor accuracy(const at::Tensor& output, const at::Tensor& target)
{
    return at::eq(at::argmax(output, -1), target).mean(at::kDouble);
}

constexpr ObjectiveQuantity kOfTokens[] = {{"accuracy", accuracy}};

constexpr ObjectiveEntry kTable[] = {
    {Objective::NextToken, nextToken, kOfTokens},
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
