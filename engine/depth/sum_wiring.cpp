// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/matrix_name.h"
#include "engine/depth/layer_wiring.h"
#include "engine/runs/mix_terms.h"
#include "projects/depth/depth_plan.h"
#include "projects/model/parameter_name.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <map>
#include <utility>

namespace residua::engine {

using projects::DepthMix;

namespace {

/// x + f_1(x) + f_2(x + f_1(x)) + …, with the sum in the residual's precision. A layer that is left out adds nothing.
/// With a learned shortcut i:j of weight w, layer j (or the final output) reads the sum plus (w − 1)·e_i.
class SumWiring final : public LayerWiring {
public:
    SumWiring(const DepthMix& mix, LayerStack layers, InitPlan& plan)
        : m_mix(mix), m_layers(std::move(layers)), m_type(plan.compute().residualType)
    {
        if (mix.states.empty()) {
            return;
        }
        m_depth = projects::planOf(mix, static_cast<std::int64_t>(m_layers.size()));
        std::vector<double> start;
        for (const std::size_t term : projects::learnedTerms(mix, m_depth)) {
            const projects::DepthTerm& at = m_depth.terms[term];
            m_beside[m_depth.readers[at.reader].target].push_back({at.source, static_cast<std::int64_t>(start.size())});
            m_kept.try_emplace(at.source);
            start.push_back(m_depth.start[term]);
        }
        if (!start.empty()) {
            m_weights = plan.addValues(projects::kTopologyCoefficient, at::tensor(start, at::kDouble),
                                       mix.weightDecay ? Decay::Yes : Decay::No);
        }
    }

    [[nodiscard]] at::Tensor run(const at::Tensor& input, const Pass& pass) override
    {
        at::Tensor sum = input.to(m_type);
        keep(0, sum);
        std::int64_t target = 0;
        for (std::size_t layer = 0; layer < m_layers.size(); ++layer) {
            ++target;
            if (m_layers.runs(layer, pass)) {
                const at::Tensor branch = m_layers.runOn(layer, readBy(target, sum), pass);
                keep(target, branch);
                sum = sum + branch;
            }
        }
        at::Tensor output = readBy(target + 1, sum);
        for (auto& [source, entry] : m_kept) {
            entry.reset();
        }
        return output;
    }

    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        if (!m_weights.defined()) {
            return {};
        }
        const at::NoGradGuard noGrad;
        const at::Tensor learned = m_weights.to(at::kCPU, at::kDouble);
        const double* const values = learned.const_data_ptr<double>();
        const auto weights = projects::withLearned(m_mix, m_depth, {1, {values, values + learned.numel()}});
        const std::vector<float> all(weights->values.begin(), weights->values.end());
        std::vector<Matrix> matrices;
        for (const char* const kind : {matrix::kMix, matrix::kCoefficient}) {
            addMatrices(matrices, kind, m_depth, all, step);
        }
        return matrices;
    }

private:
    struct Beside {
        std::int64_t source = 0;
        std::int64_t weight = 0; ///< its index in m_weights
    };

    void keep(std::int64_t number, const at::Tensor& entry)
    {
        if (const auto kept = m_kept.find(number); kept != m_kept.end()) {
            kept->second = entry;
        }
    }

    [[nodiscard]] at::Tensor readBy(std::int64_t target, const at::Tensor& sum) const
    {
        const auto beside = m_beside.find(target);
        at::Tensor read = sum;
        for (const Beside& each : beside == m_beside.end() ? std::vector<Beside>() : beside->second) {
            if (const at::Tensor& entry = m_kept.at(each.source); entry.defined()) {
                read = read + entry.to(m_type) * (m_weights.narrow(0, each.weight, 1) - 1);
            }
        }
        return read;
    }

    const DepthMix m_mix;
    LayerStack m_layers;
    const at::ScalarType m_type;
    projects::DepthPlan m_depth;                          ///< empty without learned shortcuts
    std::map<std::int64_t, std::vector<Beside>> m_beside; ///< by reader
    std::map<std::int64_t, at::Tensor> m_kept;            ///< the entries of the pass that shortcuts read
    at::Tensor m_weights;                                 ///< [learned terms]; undefined without learned shortcuts
};

} // namespace

LayerWiringResult makeSumWiring(const DepthMix& mix, LayerStack layers, InitPlan& plan)
{
    return std::unique_ptr<LayerWiring>(std::make_unique<SumWiring>(mix, std::move(layers), plan));
}

} // namespace residua::engine
