// SPDX-License-Identifier: GPL-3.0-or-later
// DenseNet (Huang et al., 2017): a layer reads the concatenation of all earlier outputs, here projected back to the
// width. That projection is a sum of products, one per entry, so no concatenation is stored.
#include "engine/compute/depth/depth_rule.h"
#include "engine/compute/ops/fused.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>

namespace residua::engine {
namespace {

class ConcatRule final : public DepthRule {
public:
    ConcatRule(std::vector<at::Tensor> weights, std::int64_t width, const Compute& compute)
        : m_width(width), m_compute(compute), m_weights(std::move(weights))
    {
    }

    void begin(const Pass&) override { m_rows.clear(); }
    void end() override { m_rows.clear(); }

    [[nodiscard]] at::Tensor join(const projects::DepthStep& step, std::span<const at::Tensor> inputs) override
    {
        for (std::size_t entry = m_rows.size(); entry < inputs.size(); ++entry) {
            const at::Tensor& value = inputs[entry];
            m_rows.push_back(value.defined() ? value.to(m_compute.activationType).reshape({-1, m_width}) : value);
        }
        return project(m_weights[step.row]).view(inputs.front().sizes());
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
        const std::vector<double> numbers = hostNumbers(at::stack(means));
        auto next = numbers.begin();
        std::vector<std::vector<double>> weights;
        for (std::ptrdiff_t reader = 1; reader <= std::ssize(m_weights); ++reader) {
            weights.emplace_back(next, next + reader);
            next += reader;
        }
        return {mixMatrix(weights, step)};
    }

private:
    /// Returns Σ_i e_i·W_iᵀ over the defined entries [N, d], summed in the parameters' precision. The first entry must
    /// be defined. The products round the entries to the activation type.
    [[nodiscard]] at::Tensor project(const at::Tensor& weight) const
    {
        const std::vector<at::Tensor> parts = rounded(m_compute, weight).split(m_width, 1);
        const bool same = m_compute.activationType == m_compute.parameterType;
        at::Tensor sum =
            same ? at::mm(m_rows[0], parts[0].t()) : linear(m_compute, m_rows[0], parts[0]).to(m_compute.parameterType);
        for (std::size_t i = 1; i < m_rows.size(); ++i) {
            if (!m_rows[i].defined()) {
                continue;
            }
            if (same) {
                sum.addmm_(m_rows[i], parts[i].t());
            } else {
                sum.add_(linear(m_compute, m_rows[i], parts[i]));
            }
        }
        return sum.to(m_compute.residualType);
    }

    std::int64_t m_width;
    Compute m_compute;
    std::vector<at::Tensor> m_weights; ///< of readers 1 to L + 1: [d, j·d]
    std::vector<at::Tensor> m_rows;    ///< the entries of the pass [N, d], rounded; undefined if absent
};

} // namespace

DepthRuleResult makeRule(const projects::Concatenation& wiring, LayerStack& layers, std::int64_t width, InitPlan& plan)
{
    const WiringTensors tensors(projects::parametersOf(wiring, static_cast<std::int64_t>(layers.rowLayers()), width),
                                plan);
    return std::unique_ptr<DepthRule>(
        std::make_unique<ConcatRule>(tensors.each("weight", layers.rows() + 1), width, plan.compute()));
}

} // namespace residua::engine
