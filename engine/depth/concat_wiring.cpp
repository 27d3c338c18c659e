// SPDX-License-Identifier: GPL-3.0-or-later
// DenseNet (Huang et al., 2017): a layer reads the concatenation of all earlier outputs, here projected back to the
// width. That projection is a sum of products, one per entry, so no concatenation is stored.
#include "engine/depth/layer_wiring.h"
#include "engine/ops/fused.h"
#include "projects/model/parameter_name.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>

namespace residua::engine {
namespace {

class ConcatWiring final : public LayerWiring {
public:
    ConcatWiring(LayerStack layers, std::int64_t width, InitPlan& plan)
        : m_layers(std::move(layers)), m_width(width), m_compute(plan.compute())
    {
        for (std::size_t reader = 1; reader <= m_layers.size() + 1; ++reader) {
            const std::string name = projects::topologyParameter(static_cast<std::int64_t>(reader), "weight");
            m_weights.push_back(plan.add(name, {width, static_cast<std::int64_t>(reader) * width}, Role::Matrix));
        }
    }

    [[nodiscard]] at::Tensor run(const at::Tensor& input, const Pass& pass) override
    {
        const auto rows = [&](const at::Tensor& entry) {
            return entry.to(m_compute.activationType).reshape({-1, m_width});
        };
        std::vector<at::Tensor> entries{rows(input)}; // undefined if the pass leaves the layer out
        for (std::size_t layer = 0; layer < m_layers.size(); ++layer) {
            at::Tensor& entry = entries.emplace_back();
            if (m_layers.runs(layer, pass)) {
                const at::Tensor read = project({entries.data(), layer + 1}, m_weights[layer]).view(input.sizes());
                entry = rows(m_layers.runOn(layer, read, pass));
            }
        }
        return project(entries, m_weights.back()).view(input.sizes());
    }

    /// "mix": the mean magnitude of the weights from entry i to reader j (DenseNet, figure 5).
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        const at::NoGradGuard noGrad;
        std::vector<at::Tensor> means;
        for (const at::Tensor& weight : m_weights) {
            for (const at::Tensor& part : weight.split(m_width, 1)) {
                means.push_back(part.abs().sum() / static_cast<double>(part.numel()));
            }
        }
        const at::Tensor host = at::stack(means).to(at::kCPU, at::kFloat);
        const float* next = host.const_data_ptr<float>();
        std::vector<std::vector<float>> weights;
        for (std::size_t reader = 1; reader <= m_weights.size(); ++reader) {
            weights.emplace_back(next, next + reader);
            next += reader;
        }
        return {unfolded(weights, step)};
    }

private:
    /// Returns Σ_i e_i·W_iᵀ over the defined entries [N, d], summed in the parameters' precision. The first entry must
    /// be defined. The products round the entries to the activation type.
    [[nodiscard]] at::Tensor project(std::span<const at::Tensor> entries, const at::Tensor& weight) const
    {
        const std::vector<at::Tensor> parts = weight.to(m_compute.activationType).split(m_width, 1);
        const bool same = m_compute.activationType == m_compute.parameterType;
        at::Tensor sum = same ? at::mm(entries[0], parts[0].t())
                              : linear(m_compute, entries[0], parts[0]).to(m_compute.parameterType);
        for (std::size_t i = 1; i < entries.size(); ++i) {
            if (!entries[i].defined()) {
                continue;
            }
            if (same) {
                sum.addmm_(entries[i], parts[i].t());
            } else {
                sum.add_(linear(m_compute, entries[i], parts[i]));
            }
        }
        return sum.to(m_compute.residualType);
    }

    LayerStack m_layers;
    std::int64_t m_width;
    Compute m_compute;
    std::vector<at::Tensor> m_weights; ///< of readers 1 to L + 1: [d, j·d]
};

} // namespace

LayerWiringResult makeConcatWiring(LayerStack layers, std::int64_t width, InitPlan& plan)
{
    return std::unique_ptr<LayerWiring>(std::make_unique<ConcatWiring>(std::move(layers), width, plan));
}

} // namespace residua::engine
