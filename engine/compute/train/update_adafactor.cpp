// SPDX-License-Identifier: GPL-3.0-or-later
// Adafactor as T5X has it: relative to the size of a weight, without momentum.
#include "engine/compute/train/updates.h"

#include <ATen/ops/linalg_vector_norm.h>

#include <cmath>

namespace residua::engine {
namespace {

using States = StateTensors<projects::Adafactor>;

/// 1/√V̂ of tensors [members, …] whose squares are kept as means along their two largest dimensions: V̂ = R·C / mean(R).
at::Tensor factoredInverse(const projects::Adafactor& adafactor, const at::Tensor& squares, const UpdateGroup& part,
                           double beta2, const UpdateStep& step)
{
    const std::vector<std::int64_t> largest = projects::factoredDimensions(adafactor, squares.sizes().slice(1).vec());
    const std::int64_t d0 = largest[0] + 1;
    const std::int64_t d1 = largest[1] + 1;
    const JoinedTensors rows(part.states(adafactor, &States::row));
    const JoinedTensors columns(part.states(adafactor, &States::column));
    const at::Tensor row = rows.values.mul(beta2).add(squares.mean(d0), 1 - beta2);
    const at::Tensor column = columns.values.mul(beta2).add(squares.mean(d1), 1 - beta2);
    step.store(rows, row);
    step.store(columns, column);
    const at::Tensor mean = row.mean(d1 > d0 ? d1 - 1 : d1, true);
    return row.div(mean).rsqrt_().unsqueeze(d0).mul(column.rsqrt().unsqueeze(d1));
}

/// [members, 1] of tensors [members, elements]
at::Tensor rootMeanSquare(const at::Tensor& tensors)
{
    return at::linalg_vector_norm(tensors, 2, {{1}}, true).div(std::sqrt(static_cast<double>(tensors.size(1))));
}

} // namespace

void update(const projects::Adafactor& adafactor, const UpdateGroup& group, const UpdateStep& step)
{
    for (const UpdateGroup& part : group.parts(step.joinsBytes)) {
        double count = 0;
        for (const UpdateGroup::Member& member : part.members) {
            count = counted(member.states->of(adafactor).step);
        }
        const double beta2 = 1 - std::pow(count, -adafactor.decayExponent);
        const at::Tensor gradients = step.gradientsOf(part);
        const at::Tensor squares = gradients.square().add_(adafactor.epsilon);
        at::Tensor changes;
        if (part.members.front().states->of(adafactor).square) {
            const JoinedTensors square(part.states(adafactor, &States::square));
            const at::Tensor next = square.values.mul(beta2).add(squares, 1 - beta2);
            step.store(square, next);
            changes = next.rsqrt().mul_(gradients);
        } else {
            changes = factoredInverse(adafactor, squares, part, beta2, step).mul_(gradients);
        }
        // Each matrix of a parameter that stacks some has a size of its own.
        const bool stacks = group.rule.matrix && group.rule.matrix->stacks;
        changes = changes.reshape({changes.size(0) * (stacks ? changes.size(1) : 1), -1});
        changes.div_(rootMeanSquare(changes).div(adafactor.clipThreshold).clamp_min_(1.0));
        const JoinedTensors parameters(part.parameters());
        const at::Tensor values = parameters.values.reshape(changes.sizes());
        changes.mul_(rootMeanSquare(values).clamp_min_(adafactor.leastScale).mul_(step.rate));
        step.store(parameters, values.mul(1 - group.rule.weightDecay).sub(changes).view_as(parameters.values));
    }
}

} // namespace residua::engine
