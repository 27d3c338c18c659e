// SPDX-License-Identifier: GPL-3.0-or-later
// Adafactor as T5X has it: relative to the size of a weight, without momentum.
#include "engine/train/updates.h"

#include <cmath>

namespace residua::engine {
namespace {

/// 1/√V̂ of a tensor whose squares are kept as means along its two largest dimensions: V̂ = R·C / mean(R).
at::Tensor factoredInverse(const projects::Adafactor& adafactor, const at::Tensor& squares,
                           const ParameterStates& states, double beta2, const UpdateStep& step)
{
    const std::vector<std::int64_t> largest = projects::factoredDimensions(adafactor, squares.sizes().vec());
    const std::int64_t d0 = largest[0];
    const std::int64_t d1 = largest[1];
    const at::Tensor row = states["row"].mul(beta2).add(squares.mean(d0), 1 - beta2);
    const at::Tensor column = states["column"].mul(beta2).add(squares.mean(d1), 1 - beta2);
    step.store(states["row"], row);
    step.store(states["column"], column);
    const at::Tensor mean = row.mean(d1 > d0 ? d1 - 1 : d1, true);
    return row.div(mean).rsqrt_().unsqueeze(d0).mul(column.rsqrt().unsqueeze(d1));
}

at::Tensor rootMeanSquare(const at::Tensor& tensor)
{
    return tensor.norm().div(std::sqrt(static_cast<double>(tensor.numel())));
}

} // namespace

void update(const projects::Adafactor& adafactor, const UpdateGroup& group, const UpdateStep& step)
{
    for (const UpdateGroup::Member& member : group.members) {
        const ParameterStates& states = *member.states;
        const at::Tensor gradient = step.gradientOf(member);
        const double beta2 = 1 - std::pow(states.countOnHost(), -adafactor.decayExponent);
        const at::Tensor squares = gradient.square().add_(adafactor.epsilon);
        at::Tensor change;
        if (const at::Tensor square = states["square"]; square.defined()) {
            const at::Tensor next = square.mul(beta2).add(squares, 1 - beta2);
            step.store(square, next);
            change = next.rsqrt().mul_(gradient);
        } else {
            change = factoredInverse(adafactor, squares, states, beta2, step).mul_(gradient);
        }
        change.div_(rootMeanSquare(change).div(adafactor.clipThreshold).clamp_min_(1.0));
        const at::Tensor rate = rootMeanSquare(member.parameter).clamp_min_(adafactor.leastScale).mul_(step.rate);
        step.store(member.parameter, member.parameter.mul(1 - group.rule.weightDecay).sub(change.mul_(rate)));
    }
}

} // namespace residua::engine
