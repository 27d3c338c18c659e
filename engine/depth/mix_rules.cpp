// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of a DepthMix: learned shortcuts beside the running sum, and mixes on the stack.
#include "engine/api/matrix_name.h"
#include "engine/depth/depth_rule.h"
#include "engine/depth/depth_weights.h"
#include "engine/runs/run_files.h"
#include "projects/depth/depth_names.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include <iterator>

namespace residua::engine {

using projects::DepthMix;
using projects::DepthReader;
using projects::DepthStep;

namespace {

/// With a learned shortcut i:j of weight w, layer j (or the final output) reads the sum plus (w − 1)·e_i.
class SumRule final : public DepthRule {
public:
    SumRule(const DepthMix& mix, std::int64_t layers, at::Tensor weights, const Compute& compute)
        : m_mix(mix), m_type(compute.residualType), m_weights(std::move(weights))
    {
        if (m_weights.defined()) {
            m_depth = projects::planOf(mix, layers);
        }
    }

    [[nodiscard]] std::vector<at::Tensor> mix(const DepthStep& step, const MixInputs& inputs, DepthStack*) override
    {
        const auto first = m_mix.states.lower_bound({0, static_cast<std::int64_t>(step.row) + 1});
        std::int64_t weight = std::distance(m_mix.states.begin(), first);
        at::Tensor read = inputs.base;
        for (const at::Tensor& entry : inputs.values) {
            if (entry.defined()) {
                read = read + entry.to(m_type) * (m_weights.narrow(0, weight, 1) - 1);
            }
            ++weight;
        }
        return {read};
    }

    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        if (!m_weights.defined()) {
            return {};
        }
        const auto weights = projects::withLearned(m_mix, m_depth, {1, hostNumbers(m_weights)});
        const std::vector<float> all(weights->values.begin(), weights->values.end());
        std::vector<Matrix> matrices;
        for (const char* const kind : {matrix::kMix, matrix::kCoefficient}) {
            addMatrices(matrices, kind, m_depth, all, step);
        }
        return matrices;
    }

private:
    const DepthMix m_mix;
    const at::ScalarType m_type;
    projects::DepthPlan m_depth; ///< empty without learned shortcuts
    at::Tensor m_weights;        ///< [learned terms]; undefined without learned shortcuts
};

} // namespace

std::vector<at::Tensor> DepthWeights::mix(const DepthStep& step, const MixInputs& inputs, DepthStack* stack)
{
    std::vector<at::Tensor> mixes;
    if (inputs.base.defined()) {
        mixes.push_back(inputs.base);
    }
    if (!inputs.places.empty()) {
        for (const WeighedSources& part : of(step.row, inputs, *stack)) {
            mixes = stack->mix(part.sources, part.weights, static_cast<int>(step.outputs), mixes);
        }
    }
    if (mixes.empty()) {
        mixes.assign(step.outputs, at::zeros_like(stack->entry(0)));
    }
    return mixes;
}

DepthRuleResult makeRule(const DepthMix& mix, LayerStack& layers, std::int64_t width, InitPlan& plan)
{
    const auto count = static_cast<std::int64_t>(layers.layers());
    const WiringTensors tensors(mix, count, width, plan);
    if (projects::isRunningSum(mix)) {
        return std::unique_ptr<DepthRule>(
            std::make_unique<SumRule>(mix, count, tensors["coefficient"], plan.compute()));
    }
    const bool besides = mix.feeds == projects::MixFeeds::ResidualBesideBranch;
    if (besides && mix.ports != projects::MixPorts::Input) {
        return Error{"topology · ports", "a mix beside the branch feeds no port; expected one mix"};
    }
    const std::int64_t modules = projects::mixedModules(mix, count);
    for (std::int64_t target = 1; !besides && target <= projects::lastReader(mix, modules); ++target) {
        const DepthReader reader = projects::readerOf(mix, target, modules);
        if (reader.sources.empty() && !reader.passes && target <= modules) {
            return Error{"topology · " + projects::readerName(mix, count, target),
                         "reads no entry of the stack; it needs at least one"};
        }
    }
    if (mix.normalise != projects::NormaliseOver::None && !(mix.temperature > 0)) {
        return Error{"topology · temperature", "got " + std::to_string(mix.temperature) + ", expected more than 0"};
    }
    return projects::isMadePerToken(mix.weight) ? makeTokenWeights(mix, count, tensors, plan.compute())
                                                : makeCoefficients(mix, count, tensors, plan);
}

} // namespace residua::engine
