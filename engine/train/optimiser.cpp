// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/train/optimiser.h"

#include "engine/runtime/compute.h"
#include "engine/train/adamw_kernel.h"
#include "projects/base/overloaded.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/DeviceGuard.h>

#include <optional>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::array kDecays{Decay::No, Decay::Yes};

/// AdamW with decoupled decay: by the kernel on a GPU that has it, else by LibTorch.
class FusedAdamW final : public Optimiser {
public:
    FusedAdamW(const projects::AdamW& plan, double clipNorm, std::vector<NamedParameter>& parameters)
        : Optimiser(clipNorm, parameters, {{"mean"}, {"square"}, {"step", Moment::Shape::Count}}), m_plan(plan)
    {
    }

private:
    void update(Group& group, Decay decay, double rate, const at::Tensor& scale, const at::Tensor& skip) override
    {
        at::_foreach_add_(group.moments[2], 1);
        at::_fused_adamw_(group.parameters, group.gradients, group.moments[0], group.moments[1], {}, group.moments[2],
                          rate, m_plan.beta1, m_plan.beta2, decay == Decay::Yes ? m_plan.weightDecay : 0.0,
                          m_plan.epsilon, false, false, scale.defined() ? std::optional(scale) : std::nullopt, skip);
    }

    void updateAll(double rate, const at::Tensor& scale, const at::Tensor& skip,
                   std::span<const HeldSlice> untouched) override
    {
        const c10::Device device = skip.device();
        const kernels::CudaKernels* const table = kernelsOn(device).table; // null on the CPU
        const std::vector<AdamWMember> members = table != nullptr ? membersOf(untouched) : std::vector<AdamWMember>();
        if (members.empty() || !fitsAdamWKernel(members)) {
            Optimiser::updateAll(rate, scale, skip, untouched);
            return;
        }
        const c10::DeviceGuard current(device);
        updateByKernel(*table, currentStream(device), m_plan, members, {rate, scale, skip});
    }

    [[nodiscard]] std::vector<AdamWMember> membersOf(std::span<const HeldSlice> untouched)
    {
        std::map<std::size_t, std::vector<HeldSlice>> slices;
        for (const HeldSlice& slice : untouched) {
            slices[slice.parameter].push_back(slice);
        }
        std::vector<AdamWMember> members;
        for (const Decay decay : kDecays) {
            const Group& group = groupOf(decay);
            for (std::size_t i = 0; i < group.indices.size(); ++i) {
                const std::size_t index = group.indices[i];
                const auto found = slices.find(index);
                members.push_back({.parameter = group.parameters[i],
                                   .gradient = group.gradients[i].contiguous(),
                                   .mean = group.moments[0][i],
                                   .square = group.moments[1][i],
                                   .updates = group.moments[2][i],
                                   .held = maskOf(index),
                                   .decay = decay == Decay::Yes ? m_plan.weightDecay : 0.0,
                                   .untouched = found == slices.end() ? std::vector<HeldSlice>() : found->second});
            }
        }
        return members;
    }

    /// Returns the held elements of a parameter in its shape; undefined if it has none.
    [[nodiscard]] at::Tensor maskOf(std::size_t index)
    {
        const NamedParameter& parameter = parameters()[index];
        if (!parameter.held.defined()) {
            return {};
        }
        at::Tensor& mask = m_masks[index];
        if (!mask.defined()) {
            mask = parameter.held.expand(parameter.tensor.sizes()).contiguous();
        }
        return mask;
    }

    projects::AdamW m_plan;
    std::map<std::size_t, at::Tensor> m_masks;
};

/// Gradient descent with momentum; the decay is added to the gradient.
class FusedSgd final : public Optimiser {
public:
    FusedSgd(const projects::Sgd& plan, double clipNorm, std::vector<NamedParameter>& parameters)
        : Optimiser(clipNorm, parameters,
                    plan.momentum > 0 ? std::vector<Moment>{{"momentum"}} : std::vector<Moment>{}),
          m_plan(plan)
    {
    }

private:
    void update(Group& group, Decay decay, double rate, const at::Tensor& scale, const at::Tensor& skip) override
    {
        const at::TensorList momenta = m_plan.momentum > 0 ? at::TensorList(group.moments[0]) : at::TensorList();
        at::_fused_sgd_(group.parameters, group.gradients, momenta, decay == Decay::Yes ? m_plan.weightDecay : 0.0,
                        m_plan.momentum, rate, 0.0, false, false, false,
                        scale.defined() ? std::optional(scale) : std::nullopt, skip);
    }

    projects::Sgd m_plan;
};

} // namespace

std::unique_ptr<Optimiser> Optimiser::make(const projects::TrainingPlan& plan, std::vector<NamedParameter>& parameters)
{
    using Made = std::unique_ptr<Optimiser>;
    return std::visit(Overloaded{[&](const projects::AdamW& adamW) -> Made {
                                     return std::make_unique<FusedAdamW>(adamW, plan.clipNorm, parameters);
                                 },
                                 [&](const projects::Sgd& sgd) -> Made {
                                     return std::make_unique<FusedSgd>(sgd, plan.clipNorm, parameters);
                                 }},
                      plan.optimiser);
}

Optimiser::Optimiser(double clipNorm, std::vector<NamedParameter>& parameters, std::vector<Moment> kinds)
    : m_clipNorm(clipNorm), m_parameters(parameters), m_kinds(std::move(kinds))
{
    for (const NamedParameter& parameter : parameters) {
        std::vector<at::Tensor>& moments = m_moments.emplace_back();
        for (const Moment& kind : m_kinds) {
            // The fused kernels need the count as a float, whatever the parameter's type.
            moments.push_back(kind.shape == Moment::Shape::Count
                                  ? at::zeros({}, parameter.tensor.options().dtype(at::kFloat).requires_grad(false))
                                  : at::zeros_like(parameter.tensor.detach()));
        }
    }
    for (Group& group : m_groups) {
        group.moments.resize(m_kinds.size());
    }
}

void Optimiser::gather(Group& group, Decay decay) const
{
    group.indices.clear();
    group.parameters.clear();
    group.gradients.clear();
    for (std::vector<at::Tensor>& moments : group.moments) {
        moments.clear();
    }
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        const at::Tensor& gradient = m_parameters[i].tensor.grad();
        if (m_parameters[i].decay != decay || !gradient.defined()) {
            continue;
        }
        group.indices.push_back(i);
        group.parameters.push_back(m_parameters[i].tensor);
        group.gradients.push_back(gradient);
        for (std::size_t kind = 0; kind < m_kinds.size(); ++kind) {
            group.moments[kind].push_back(m_moments[i][kind]);
        }
    }
}

at::Tensor Optimiser::step(double rate, std::span<const HeldSlice> untouched)
{
    const at::NoGradGuard noGrad;
    m_gradients.clear();
    for (std::size_t i = 0; i < kDecays.size(); ++i) {
        gather(m_groups[i], kDecays[i]);
        m_gradients.insert(m_gradients.end(), m_groups[i].gradients.begin(), m_groups[i].gradients.end());
    }
    TORCH_CHECK(!m_gradients.empty(), "no parameter has a gradient: the loss does not depend on the network");
    const at::Tensor norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(m_gradients)));
    at::Tensor scale;
    if (m_clipNorm > 0) {
        scale = norm.div(m_clipNorm).clamp_min(1.0).to(at::kFloat);
    }
    const at::Tensor skip = at::isfinite(norm).logical_not().to(at::kFloat);
    updateAll(rate, scale, skip, untouched);
    return norm;
}

void Optimiser::updateAll(double rate, const at::Tensor& scale, const at::Tensor& skip,
                          std::span<const HeldSlice> untouched)
{
    const std::vector<at::Tensor> held = heldValues();
    const std::vector<at::Tensor> views = viewsOf(untouched);
    std::vector<at::Tensor> values;
    for (const at::Tensor& view : views) {
        values.push_back(view.clone());
    }
    for (std::size_t i = 0; i < kDecays.size(); ++i) {
        if (!m_groups[i].parameters.empty()) {
            update(m_groups[i], kDecays[i], rate, scale, skip);
        }
    }
    restoreHeld(held);
    for (std::size_t i = 0; i < views.size(); ++i) {
        views[i].copy_(values[i]);
    }
}

std::vector<at::Tensor> Optimiser::viewsOf(std::span<const HeldSlice> slices) const
{
    std::vector<at::Tensor> views;
    for (const HeldSlice& slice : slices) {
        const at::Tensor& whole = m_parameters[slice.parameter].tensor;
        views.push_back(whole.narrow(slice.dimension, slice.begin, slice.length));
        for (std::size_t kind = 0; kind < m_kinds.size(); ++kind) {
            if (m_kinds[kind].shape == Moment::Shape::AsParameter) {
                const at::Tensor& moment = m_moments[slice.parameter][kind];
                views.push_back(moment.narrow(slice.dimension, slice.begin, slice.length));
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
    for (std::size_t kind = 0; kind < m_kinds.size(); ++kind) {
        m_moments[to][kind].copy_(m_moments[from][kind]);
    }
}

void Optimiser::clearMoments(std::size_t of)
{
    for (at::Tensor& moment : m_moments[of]) {
        moment.zero_();
    }
}

HostTensors Optimiser::state() const
{
    HostTensors tensors;
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        for (std::size_t kind = 0; kind < m_kinds.size(); ++kind) {
            tensors.add(m_parameters[i].name + "." + m_kinds[kind].name, m_moments[i][kind]);
        }
    }
    return tensors;
}

Status Optimiser::load(const TensorFiles& stored)
{
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        if (stored.tensors().empty()) {
            clearMoments(i);
            continue;
        }
        if (Status loaded = loadMoments(i, stored, m_parameters[i].name); !loaded) {
            return loaded;
        }
    }
    return Done{};
}

Status Optimiser::loadMoments(std::size_t of, const TensorFiles& stored, const std::string& name)
{
    for (std::size_t kind = 0; kind < m_kinds.size(); ++kind) {
        if (Status loaded = loadTensor(stored, name + "." + m_kinds[kind].name, m_moments[of][kind]); !loaded) {
            return loaded;
        }
    }
    return Done{};
}

} // namespace residua::engine
