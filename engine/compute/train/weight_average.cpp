// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/weight_average.h"

#include "projects/base/mapped.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_lerp.h>

#include <algorithm>
#include <utility>

namespace residua::engine {
namespace {

constexpr const char* kAverage = ".average";

} // namespace

WeightAverage::WeightAverage(const projects::TrainingPlan& plan, std::vector<NamedParameter>& parameters)
    : m_decay(plan.weightAverage), m_isEvaluated(isEvaluatedBy(plan))
{
    if (m_decay > 0) {
        for (NamedParameter& parameter : parameters) {
            if (!parameter.isBuffer && !parameter.isFrozen) {
                m_parameters.push_back(&parameter);
                m_means.push_back(parameter.tensor.detach().clone());
            }
        }
    }
}

bool WeightAverage::isEvaluatedBy(const projects::TrainingPlan& plan)
{
    return plan.weightAverage > 0 && plan.evaluatedWeights == projects::EvaluatedWeights::Averaged;
}

void WeightAverage::restart()
{
    for (std::size_t i = 0; i < m_means.size(); ++i) {
        m_means[i].copy_(m_parameters[i]->tensor.detach());
    }
}

void WeightAverage::update()
{
    if (m_means.empty()) {
        return;
    }
    auto weights = mapped(m_parameters, [](const NamedParameter* parameter) { return parameter->tensor.detach(); });
    at::_foreach_lerp_(m_means, weights, 1 - m_decay);
}

void WeightAverage::addTo(HostTensors& tensors) const
{
    for (std::size_t i = 0; i < m_means.size(); ++i) {
        tensors.add(m_parameters[i]->name + kAverage, m_means[i]);
    }
}

Status WeightAverage::load(const TensorFiles& stored, std::int64_t step)
{
    const bool has = std::ranges::any_of(
        m_parameters, [&](const NamedParameter* each) { return stored.tensors().contains(each->name + kAverage); });
    if (!has && step == 0) {
        restart();
        return Done{};
    }
    for (std::size_t i = 0; i < m_means.size(); ++i) {
        RESIDUA_TRY(loadTensor(stored, m_parameters[i]->name + kAverage, m_means[i]));
    }
    return Done{};
}

void WeightAverage::exchange()
{
    const at::NoGradGuard noGrad;
    for (std::size_t i = 0; m_isEvaluated && i < m_means.size(); ++i) {
        const at::Tensor mean = m_means[i].clone();
        m_means[i].copy_(m_parameters[i]->tensor);
        m_parameters[i]->tensor.copy_(mean);
    }
}

void takeEvaluatedWeights(CheckpointFiles& checkpoint, const projects::TrainingPlan& plan)
{
    if (WeightAverage::isEvaluatedBy(plan)) {
        checkpoint.model.replaceBy(std::move(checkpoint.optimiser), kAverage);
        checkpoint.optimiser = {};
    }
}

} // namespace residua::engine
