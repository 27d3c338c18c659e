// SPDX-License-Identifier: GPL-3.0-or-later
// GaLore with Adam, as the authors' package galore-torch has it: at a new projection the moments stay as they are,
// neither rotated nor cleared, and the count of updates runs on.
#include "engine/compute/train/updates.h"

#include <ATen/ops/linalg_svd.h>

#include <cmath>
#include <optional>

namespace residua::engine {
namespace {

/// Writes the first singular vectors of a gradient, in single precision, as many as the states hold. The processor
/// finds them, because cuSOLVER is not among the libraries that are installed, so this waits for the device.
void chooseProjection(const at::Tensor& gradient, const StateTensors<projects::Galore>& states)
{
    const auto [u, values, vh] = at::linalg_svd(gradient.to(at::kCPU, at::kFloat), false);
    if (states.left) {
        states.left->copy_(u.narrow(1, 0, states.left->size(1)));
    }
    if (states.right) {
        states.right->copy_(vh.narrow(0, 0, states.right->size(0)));
    }
}

/// Updates a part of one member.
void updateOne(const projects::Galore& galore, const UpdateGroup& part, const UpdateStep& step)
{
    const at::Tensor& parameter = part.members.front().parameter;
    const StateTensors<projects::Galore>& states = part.members.front().states->of(galore);
    const std::optional<at::Tensor>& left = states.left;
    const std::optional<at::Tensor>& right = states.right;
    const double weightDecay = part.rule.weightDecay;
    const auto store = [&step](const at::Tensor& target, const at::Tensor& value) {
        step.store(JoinedTensors({target}), value.unsqueeze(0));
    };
    const bool projects = left || right;
    at::Tensor gradient = step.gradientsOf(part)[0];
    const double count = counted(states.step);
    if (projects && std::fmod(count - 1, static_cast<double>(galore.gap)) == 0) {
        if (step.skip.item<double>() != 0) {
            states.step.sub_(1); // the next update chooses
            return;
        }
        chooseProjection(gradient, states);
    }
    gradient = left ? left->t().matmul(gradient) : gradient;
    gradient = right ? gradient.matmul(right->t()) : gradient;
    const at::Tensor mean = states.mean.mul(galore.beta1).add_(gradient, 1 - galore.beta1);
    const at::Tensor square = states.square.mul(galore.beta2).addcmul_(gradient, gradient, 1 - galore.beta2);
    store(states.mean, mean);
    store(states.square, square);
    at::Tensor change = mean.div(square.sqrt().add_(galore.epsilon));
    change = left ? left->matmul(change) : change;
    change = right ? change.matmul(*right) : change;
    change = projects ? change.mul(galore.scale) : change;
    const double corrected =
        step.rate * std::sqrt(1 - std::pow(galore.beta2, count)) / (1 - std::pow(galore.beta1, count));
    const at::Tensor next = parameter.add(change, -corrected);
    store(parameter, weightDecay > 0 ? next.add(next, -step.rate * weightDecay) : next);
}

} // namespace

void update(const projects::Galore& galore, const UpdateGroup& group, const UpdateStep& step)
{
    for (const UpdateGroup& part : group.parts(0)) {
        updateOne(galore, part, step);
    }
}

} // namespace residua::engine
