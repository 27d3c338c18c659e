// SPDX-License-Identifier: GPL-3.0-or-later
// The states of a parameter, and the algorithms that LibTorch has fused or that are a few lines.
#include "engine/compute/train/updates.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <optional>

namespace residua::engine {
namespace {

using Kind = projects::OptimiserState::Kind;

template <class Function>
std::vector<at::Tensor> listOf(const UpdateGroup& group, Function tensorOf)
{
    std::vector<at::Tensor> tensors;
    tensors.reserve(group.members.size());
    std::ranges::transform(group.members, std::back_inserter(tensors), tensorOf);
    return tensors;
}

std::optional<at::Tensor> scaleOf(const UpdateStep& step)
{
    return step.scale.defined() ? std::optional(step.scale) : std::nullopt;
}

/// True if one call can update both.
bool areAlike(const UpdateGroup::Member& a, const UpdateGroup::Member& b)
{
    const auto countsAlike = [](const ParameterStates::State& x, const ParameterStates::State& y) {
        return x.is.kind != Kind::CountOnHost || *x.tensor.const_data_ptr<float>() == *y.tensor.const_data_ptr<float>();
    };
    return a.parameter.sizes() == b.parameter.sizes() &&
           std::ranges::equal(a.states->all(), b.states->all(), countsAlike);
}

/// LibTorch's operator takes microseconds for each tensor of the host.
void addOne(const std::vector<at::Tensor>& counts)
{
    if (!counts.front().is_cpu()) {
        at::_foreach_add_(counts, 1);
        return;
    }
    for (const at::Tensor& count : counts) {
        (void)counted(count);
    }
}

} // namespace

ParameterStates::ParameterStates(const projects::UpdateRule& rule, const projects::TrainedParameter& parameter,
                                 const at::TensorOptions& options)
{
    const auto make = [&](const projects::OptimiserState& state) {
        // The fused kernels want the count as a float, whatever the parameter's type.
        at::TensorOptions own = state.kind == Kind::Elements ? options : options.dtype(at::kFloat);
        own = state.kind == Kind::CountOnHost ? own.device(at::kCPU) : own;
        return m_states.emplace_back(state, at::zeros(state.shape, own)).tensor;
    };
    std::visit([&](const auto& algorithm) { m_tensors = projects::statesOf(algorithm, parameter).map(make); },
               rule.algorithm);
}

void ParameterStates::clear()
{
    for (State& state : m_states) {
        state.tensor.zero_();
    }
}

void ParameterStates::copyFrom(const ParameterStates& other)
{
    const bool same = std::ranges::equal(m_states, other.m_states, [](const State& a, const State& b) {
        return a.is.name == b.is.name && a.tensor.sizes() == b.tensor.sizes();
    });
    for (std::size_t i = 0; i < m_states.size(); ++i) {
        same ? m_states[i].tensor.copy_(other.m_states[i].tensor) : m_states[i].tensor.zero_();
    }
}

double counted(const at::Tensor& step)
{
    return static_cast<double>(*step.mutable_data_ptr<float>() += 1);
}

std::vector<at::Tensor> UpdateGroup::parameters() const
{
    return listOf(*this, [](const Member& member) { return member.parameter; });
}

std::vector<at::Tensor> UpdateGroup::gradients() const
{
    return listOf(*this, [](const Member& member) { return member.gradient; });
}

std::vector<UpdateGroup> UpdateGroup::parts(std::int64_t bytes) const
{
    std::vector<UpdateGroup> parts;
    for (const Member& member : members) {
        const std::size_t most = static_cast<std::size_t>(bytes) / std::max<std::size_t>(member.parameter.nbytes(), 1);
        const auto part = most < 2 ? parts.end() : std::ranges::find_if(parts, [&](const UpdateGroup& each) {
            return each.members.size() < most && areAlike(each.members.front(), member);
        });
        if (part == parts.end()) {
            parts.push_back({rule, {member}});
        } else {
            part->members.push_back(member);
        }
    }
    return parts;
}

void UpdateGroup::countSkipped() const
{
    for (const Member& member : members) {
        for (const ParameterStates::State& state : member.states->all()) {
            if (state.is.kind == Kind::Count) {
                state.tensor.add_(1);
            }
        }
    }
}

JoinedTensors::JoinedTensors(std::vector<at::Tensor> all)
    : members(std::move(all)), values(members.size() == 1 ? members.front().unsqueeze(0) : at::stack(members))
{
}

at::Tensor UpdateStep::gradientsOf(const UpdateGroup& part) const
{
    const at::Tensor gradients = JoinedTensors(part.gradients()).values;
    return scale.defined() ? gradients.div(scale) : gradients;
}

void UpdateStep::store(const JoinedTensors& targets, const at::Tensor& values) const
{
    const at::Tensor kept = values.is_cpu() ? values : at::where(skip.to(at::kBool), targets.values, values);
    at::_foreach_copy_(targets.members, kept.unbind());
}

void update(const projects::AdamW& adamW, const UpdateGroup& group, const UpdateStep& step)
{
    const std::vector<at::Tensor> counts = group.states(adamW, &StateTensors<projects::AdamW>::step);
    addOne(counts);
    at::_fused_adamw_(group.parameters(), group.gradients(), group.states(adamW, &StateTensors<projects::AdamW>::mean),
                      group.states(adamW, &StateTensors<projects::AdamW>::square), {}, counts, step.rate, adamW.beta1,
                      adamW.beta2, group.rule.weightDecay, adamW.epsilon, false, false, scaleOf(step), step.skip);
}

/// The decay is added to the gradient.
void update(const projects::Sgd& sgd, const UpdateGroup& group, const UpdateStep& step)
{
    const std::vector<at::Tensor> momenta =
        sgd.momentum > 0 ? group.states(sgd, &StateTensors<projects::Sgd>::momentum) : std::vector<at::Tensor>();
    at::_fused_sgd_(group.parameters(), group.gradients(), momenta, group.rule.weightDecay, sgd.momentum, step.rate,
                    0.0, false, false, false, scaleOf(step), step.skip);
}

void update(const projects::Lion& lion, const UpdateGroup& group, const UpdateStep& step)
{
    for (const UpdateGroup& part : group.parts(step.joinsBytes)) {
        const at::Tensor gradients = step.gradientsOf(part);
        const JoinedTensors parameters(part.parameters());
        const JoinedTensors momenta(part.states(lion, &StateTensors<projects::Lion>::momentum));
        const at::Tensor directions = momenta.values.mul(lion.beta1).add(gradients, 1 - lion.beta1).sign_();
        const at::Tensor decayed = parameters.values.mul(1 - step.rate * group.rule.weightDecay);
        step.store(parameters, decayed.add(directions, -step.rate));
        step.store(momenta, momenta.values.mul(lion.beta2).add(gradients, 1 - lion.beta2));
    }
}

} // namespace residua::engine
