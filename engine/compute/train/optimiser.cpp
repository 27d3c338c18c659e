// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/optimiser.h"

#include "engine/compute/runtime/compute.h"
#include "engine/compute/train/adamw_kernel.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::int64_t kJoinsBytes = std::int64_t{64} << 20U; ///< bounds the copies of parameters and states

} // namespace

Optimiser::Optimiser(const projects::TrainingPlan& plan, std::vector<NamedParameter>& parameters,
                     std::unique_ptr<ParameterShares> shares, std::shared_ptr<RoundedWeights> rounded)
    : m_clipNorm(plan.clipNorm),
      m_roundsTo16(projects::roundsToBf16(plan.precision)),
      m_parameters(parameters),
      m_shares(std::move(shares)),
      m_rounded(std::move(rounded))
{
    std::vector<projects::UpdateRule> rules;
    for (const NamedParameter& parameter : parameters) {
        const projects::TrainedParameter trained{.name = parameter.name,
                                                 .shape = parameter.tensor.sizes().vec(),
                                                 .is = parameter.is,
                                                 .decays = parameter.decay == Decay::Yes,
                                                 .matrix = parameter.matrix};
        rules.push_back(projects::ruleOf(plan.optimiser, plan.groups, trained));
        if (parameter.isBuffer || parameter.isFrozen) {
            m_states.emplace_back();
            continue;
        }
        const bool isOwn = !m_shares || m_shares->isOwn(m_states.size());
        m_states.emplace_back(rules.back(), trained,
                              parameter.tensor.options().requires_grad(false).device(isOwn ? parameter.tensor.device()
                                                                                           : at::Device(at::kMeta)));
    }
    // The order decides the last bits of the norm, so it is the one of every earlier version.
    for (const Decay decay : {Decay::No, Decay::Yes}) {
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (parameters[i].decay != decay || parameters[i].isBuffer || parameters[i].isFrozen) {
                continue;
            }
            auto group = std::ranges::find(m_groups, rules[i], &Group::rule);
            if (group == m_groups.end()) {
                group = m_groups.insert(m_groups.end(), {rules[i], {}});
            }
            group->parameters.push_back(i);
        }
    }
}

UpdateGroup Optimiser::gathered(const Group& group) const
{
    UpdateGroup result{group.rule, {}};
    for (const std::size_t i : group.parameters) {
        if (const at::Tensor& gradient = m_parameters[i].tensor.grad(); gradient.defined()) {
            result.members.push_back({m_parameters[i].tensor, gradient, &m_states[i], i});
        }
    }
    return result;
}

at::Tensor Optimiser::step(double rate, std::span<const HeldSlice> untouched)
{
    const at::NoGradGuard noGrad;
    std::vector<UpdateGroup> groups;
    std::vector<at::Tensor> gradients;
    for (const Group& group : m_groups) {
        groups.push_back(gathered(group));
        std::ranges::move(groups.back().gradients(), std::back_inserter(gradients));
    }
    TORCH_CHECK(!gradients.empty(), "no parameter has a gradient: the loss does not depend on the network");
    const at::Tensor norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients)));
    UpdateStep step;
    step.roundsTo16 = m_roundsTo16;
    step.joinsBytes = norm.is_cpu() ? 0 : kJoinsBytes;
    if (m_clipNorm > 0) {
        step.scale = norm.div(m_clipNorm).clamp_min(1.0).to(at::kFloat);
    }
    step.skip = at::isfinite(norm).logical_not().to(at::kFloat);
    if (step.skip.is_cpu() && step.skip.item<float>() != 0) {
        for (const UpdateGroup& group : groups) {
            group.countSkipped();
        }
        return norm;
    }
    const auto withRate = [&](const UpdateGroup& group) -> const UpdateStep& {
        step.rate = rate * group.rule.rateScale;
        return step;
    };
    std::erase_if(groups, [&](UpdateGroup& group) {
        keepOwn(group);
        return group.members.empty() || updatedByKernel(group, withRate(group), untouched);
    });
    if (!groups.empty()) {
        updateByTensors(groups, withRate, untouched);
    }
    if (m_shares) {
        m_shares->exchangeValues();
    }
    return norm;
}

void Optimiser::keepOwn(UpdateGroup& group) const
{
    if (m_shares) {
        std::erase_if(group.members, [this](const auto& member) { return !m_shares->isOwn(member.index); });
    }
}

void Optimiser::updateByTensors(const std::vector<UpdateGroup>& groups,
                                const std::function<const UpdateStep&(const UpdateGroup&)>& stepOf,
                                std::span<const HeldSlice> untouched)
{
    const std::vector<at::Tensor> held = heldValues();
    const std::vector<at::Tensor> views = viewsOf(untouched);
    std::vector<at::Tensor> values;
    for (const at::Tensor& view : views) {
        values.push_back(view.clone());
    }
    for (const UpdateGroup& group : groups) {
        std::visit([&](const auto& algorithm) { update(algorithm, group, stepOf(group)); }, group.rule.algorithm);
        std::ranges::for_each(group.parameters(), noteWrite); // LibTorch's fused kernels do not
    }
    restoreHeld(held);
    for (std::size_t i = 0; i < views.size(); ++i) {
        views[i].copy_(values[i]);
    }
}

bool Optimiser::updatedByKernel(const UpdateGroup& group, const UpdateStep& step, std::span<const HeldSlice> untouched)
{
    const auto* const adamW = std::get_if<projects::AdamW>(&group.rule.algorithm);
    const c10::Device device = step.skip.device();
    const kernels::CudaKernels* const table = kernelsOn(device).table; // null on the CPU
    if (adamW == nullptr || table == nullptr) {
        return false;
    }
    std::vector<AdamWMember> members;
    for (const UpdateGroup::Member& member : group.members) {
        members.push_back({.parameter = member.parameter,
                           .gradient = member.gradient.contiguous(),
                           .mean = member.states->of(*adamW).mean,
                           .square = member.states->of(*adamW).square,
                           .updates = member.states->of(*adamW).step,
                           .held = maskOf(member.index),
                           .rounded = m_rounded ? m_rounded->copy(member.parameter) : at::Tensor(),
                           .decay = group.rule.weightDecay,
                           .untouched = {}});
        std::ranges::copy_if(untouched, std::back_inserter(members.back().untouched),
                             [&](const HeldSlice& slice) { return slice.parameter == member.index; });
    }
    if (!fitsAdamWKernel(members)) {
        return false;
    }
    const c10::DeviceGuard current(device);
    updateByKernel(*table, currentStream(device), *adamW, members, step);
    return true;
}

at::Tensor Optimiser::maskOf(std::size_t index)
{
    const NamedParameter& parameter = m_parameters[index];
    if (!parameter.held.defined()) {
        return {};
    }
    at::Tensor& mask = m_masks[index];
    if (!mask.defined()) {
        mask = parameter.held.expand(parameter.tensor.sizes()).contiguous();
    }
    return mask;
}

std::vector<at::Tensor> Optimiser::viewsOf(std::span<const HeldSlice> slices) const
{
    std::vector<at::Tensor> views;
    for (const HeldSlice& slice : slices) {
        const at::Tensor& whole = m_parameters[slice.parameter].tensor;
        views.push_back(whole.narrow(slice.dimension, slice.begin, slice.length));
        for (const ParameterStates::State& state : m_states[slice.parameter].all()) {
            if (state.is.kind == projects::OptimiserState::Kind::Elements) {
                views.push_back(state.tensor.narrow(slice.dimension, slice.begin, slice.length));
            }
        }
    }
    return views;
}

std::vector<at::Tensor> Optimiser::heldValues() const
{
    std::vector<at::Tensor> values;
    for (const NamedParameter& parameter : m_parameters) {
        if (parameter.held.defined()) {
            values.push_back(parameter.tensor.clone());
        }
    }
    return values;
}

void Optimiser::restoreHeld(const std::vector<at::Tensor>& values)
{
    std::size_t next = 0;
    for (NamedParameter& parameter : m_parameters) {
        if (parameter.held.defined()) {
            parameter.tensor.copy_(at::where(parameter.held, values[next++], parameter.tensor));
        }
    }
}

void Optimiser::clearGradients()
{
    for (NamedParameter& parameter : m_parameters) {
        parameter.tensor.mutable_grad().reset();
    }
}

void Optimiser::copyMoments(std::size_t from, std::size_t to)
{
    m_states[to].copyFrom(m_states[from]);
}

void Optimiser::clearMoments(std::size_t of)
{
    m_states[of].clear();
}

HostTensors Optimiser::state() const
{
    HostTensors tensors;
    if (m_shares) {
        m_shares->completeValues();
    }
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        for (const ParameterStates::State& state : m_states[i].all()) {
            const at::Tensor values = m_shares ? m_shares->collect(state.tensor, i) : state.tensor;
            if (!m_shares || m_shares->records()) {
                tensors.add(m_parameters[i].name + "." + std::string(state.is.name), values);
            }
        }
    }
    return tensors;
}

bool Optimiser::keepsStates() const
{
    return std::ranges::any_of(m_states, [](const ParameterStates& states) { return !states.all().empty(); });
}

Status Optimiser::load(const TensorFiles& stored)
{
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        if (stored.tensors().empty()) {
            clearMoments(i);
            continue;
        }
        RESIDUA_TRY(loadMoments(i, stored, m_parameters[i].name));
    }
    return Done{};
}

Status Optimiser::loadMoments(std::size_t of, const TensorFiles& stored, const std::string& name)
{
    for (const ParameterStates::State& state : m_states[of].all()) {
        RESIDUA_TRY(loadTensor(stored, name + "." + std::string(state.is.name), state.tensor));
    }
    return Done{};
}

Status Optimiser::takeMoments(std::size_t of, const TensorFiles& stored, const std::string& name,
                              const TakeElements& take)
{
    const at::Tensor& parameter = m_parameters[of].tensor;
    const std::vector<ParameterStates::State>& states = m_states[of].all();
    const bool fits = std::ranges::all_of(states, [&](const ParameterStates::State& state) {
        return state.tensor.numel() == 1 || state.tensor.sizes() == parameter.sizes();
    });
    if (!fits) {
        clearMoments(of);
        return Done{};
    }
    for (const ParameterStates::State& state : states) {
        const std::string tensor = name + "." + std::string(state.is.name);
        if (state.tensor.dim() == 0 || state.tensor.sizes() != parameter.sizes()) {
            RESIDUA_TRY(loadTensor(stored, tensor, state.tensor));
            continue;
        }
        const at::Tensor values = RESIDUA_TRY(readTensor(stored, tensor));
        if (const Status taken = take(values, state.tensor); !taken) {
            return Error{tensor, taken.error().text()};
        }
    }
    return Done{};
}

} // namespace residua::engine
