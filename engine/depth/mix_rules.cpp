// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of a DepthMix: learned shortcuts beside the running sum, and mixes on the stack.
#include "engine/api/matrix_name.h"
#include "engine/depth/depth_rule.h"
#include "engine/depth/depth_weights.h"
#include "engine/runs/run_files.h"
#include "projects/depth/depth_names.h"
#include "projects/model/parameter_name.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
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
    SumRule(const DepthMix& mix, std::int64_t layers, InitPlan& plan) : m_mix(mix), m_type(plan.compute().residualType)
    {
        if (mix.states.empty()) {
            return;
        }
        m_depth = projects::planOf(mix, layers);
        std::vector<double> start;
        for (const std::size_t term : projects::learnedTerms(mix, m_depth)) {
            start.push_back(m_depth.start[term]);
        }
        if (!start.empty()) {
            m_weights = plan.addValues(projects::kTopologyCoefficient, at::tensor(start, at::kDouble),
                                       mix.weightDecay ? Decay::Yes : Decay::No);
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

/// Mixes with the weights of a DepthWeights.
class MixRule final : public DepthRule {
public:
    MixRule(const DepthMix& mix, std::int64_t layers) : m_depth(projects::planOf(mix, layers)) {}

    [[nodiscard]] Status prepare(const DepthMix& mix, std::int64_t width, InitPlan& plan)
    {
        for (const DepthReader& reader : m_depth.readers) {
            const bool reads = !reader.sources.empty() || reader.passes || reader.target > m_depth.modules;
            if (mix.feeds == projects::MixFeeds::LayerInput && !reads) {
                return Error{"topology · " + projects::readerName(mix, m_depth.layers, reader.target),
                             "reads no entry of the stack; it needs at least one"};
            }
        }
        Result<std::unique_ptr<DepthWeights>> weights = DepthWeights::create(mix, m_depth, width, plan);
        if (!weights) {
            return weights.error();
        }
        m_weights = std::move(*weights);
        return Done{};
    }

    void begin() override { m_weights->begin(); }
    void end() override { m_weights->end(); }

    [[nodiscard]] std::vector<at::Tensor> mix(const DepthStep& step, const MixInputs& inputs,
                                              DepthStack* stack) override
    {
        std::vector<at::Tensor> mixes;
        if (inputs.base.defined()) {
            mixes.push_back(inputs.base);
        }
        if (!inputs.places.empty()) {
            const DepthReading reading{*stack, inputs.places, inputs.entries, inputs.newest};
            for (const WeighedSources& part : m_weights->of(step.row, reading)) {
                mixes = stack->mix(part.sources, part.weights, static_cast<int>(step.outputs), mixes);
            }
        }
        if (mixes.empty()) {
            mixes.assign(step.outputs, at::zeros_like(stack->entry(0)));
        }
        return mixes;
    }

    [[nodiscard]] std::vector<Regulariser> regularisers() const override { return m_weights->regularisers(); }
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override { return m_weights->matrices(step); }

private:
    const projects::DepthPlan m_depth;
    std::unique_ptr<DepthWeights> m_weights;
};

} // namespace

DepthRuleResult makeRule(const DepthMix& mix, LayerStack& layers, std::int64_t width, InitPlan& plan)
{
    const auto count = static_cast<std::int64_t>(layers.layers());
    if (projects::isRunningSum(mix)) {
        return std::unique_ptr<DepthRule>(std::make_unique<SumRule>(mix, count, plan));
    }
    if (mix.feeds == projects::MixFeeds::ResidualBesideBranch && mix.ports != projects::MixPorts::Input) {
        return Error{"topology · ports", "a mix beside the branch feeds no port; expected one mix"};
    }
    auto rule = std::make_unique<MixRule>(mix, count);
    if (const Status ready = rule->prepare(mix, width, plan); !ready) {
        return ready.error();
    }
    return std::unique_ptr<DepthRule>(std::move(rule));
}

} // namespace residua::engine
