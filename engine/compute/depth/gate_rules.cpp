// SPDX-License-Identifier: GPL-3.0-or-later
// Gates on the residual or the branch of each layer, and norms of their sum: one rule per kind, whose Join computes the
// next layer's input from a layer's input x and its branch f. The residual is kept in its own precision, as in the
// plain network.
#include "engine/base/api/matrix_name.h"
#include "engine/compute/depth/depth_rule.h"
#include "engine/compute/graph/value_residual.h"
#include "engine/compute/ops/fused.h"
#include "engine/compute/ops/norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <limits>

namespace residua::engine {

using projects::BranchGate;
using projects::BranchGateKind;
using projects::DepthStep;
using projects::LaurelBound;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Unfolds x_j = branch_j·f_j + residual_j·x_{j−1} into weights of entries: the weight of f_i at reader j is
/// branch_i·residual_{i+1} ⋯ residual_{j−1}.
Matrix unfoldedFactors(const at::Tensor& branch, const at::Tensor& residual, std::int64_t step)
{
    constexpr auto kLayer = projects::Granularity::Layer;
    const auto program = projects::factorProgram(static_cast<std::size_t>(branch.numel()), kLayer);
    return mixMatrix(projects::unrolled(program, {1, hostNumbers(at::stack({residual, branch}, 1))}, kLayer), step);
}

/// Returns "coefficient": the learned numbers of the modules, one row each.
Matrix coefficientMatrix(const at::Tensor& numbers, std::int64_t columns, std::int64_t step)
{
    const std::vector<double> values = hostNumbers(numbers);
    return {matrix::kCoefficient, step, numbers.numel() / columns, columns, {values.begin(), values.end()}};
}

/// ReZero (Bachlechner et al., 2020): x + α·f with α = 0 at the start, so that the stack is the identity. Both halves
/// of a layer share its α (section 4).
class ReZeroRule final : public DepthRule {
public:
    ReZeroRule(at::Tensor alpha, std::size_t each) : m_alpha(std::move(alpha)), m_each(each) {}

    void begin(const Pass&) override { m_alphas = m_alpha.unbind(0); }
    [[nodiscard]] at::Tensor join(const DepthStep& step, std::span<const at::Tensor> inputs) override
    {
        const at::Tensor& x = inputs[0];
        return x + inputs[1].to(x.scalar_type()) * m_alphas[step.row / m_each];
    }
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        const at::NoGradGuard noGrad;
        const at::Tensor alpha = m_alpha.repeat_interleave(static_cast<std::int64_t>(m_each));
        return {unfoldedFactors(alpha, at::ones_like(alpha), step), coefficientMatrix(alpha, 1, step)};
    }

private:
    at::Tensor m_alpha; ///< [L]
    std::size_t m_each; ///< modules per layer
    std::vector<at::Tensor> m_alphas;
};

/// Highway (Srivastava et al., 2015, eq. 3): t·f + (1 − t)·x, t = σ(W·x + b).
class HighwayRule final : public DepthRule {
public:
    HighwayRule(const WiringTensors& tensors, std::size_t modules, const Compute& compute)
        : m_compute(compute),
          m_weights(tensors.each("gate.weight", modules)),
          m_biases(tensors.each("gate.bias", modules))
    {
    }

    [[nodiscard]] at::Tensor join(const DepthStep& step, std::span<const at::Tensor> inputs) override
    {
        const at::Tensor& x = inputs[0];
        const at::Tensor gate = at::sigmoid(linear(m_compute, x, m_weights[step.row], m_biases[step.row]));
        return x + (inputs[1] - x) * gate;
    }
    /// Returns "mix" with each gate at an input of 0, so that its bias alone decides.
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        const at::NoGradGuard noGrad;
        const at::Tensor open = at::sigmoid(at::stack(m_biases)).mean(1);
        return {unfoldedFactors(open, 1 - open, step), coefficientMatrix(open, 1, step)};
    }

private:
    Compute m_compute;
    std::vector<at::Tensor> m_weights; ///< [d, d]
    std::vector<at::Tensor> m_biases;  ///< [d]
};

/// Post-norm (Vaswani et al., 2017, section 3.1): norm(α·x + f), with a norm for each module (PostNormScale).
class PostNormRule final : public DepthRule {
public:
    PostNormRule(const BranchGate& wiring, const WiringTensors& tensors, std::size_t modules)
    {
        const bool isLayer = wiring.norm == projects::NormKind::Layer;
        const std::vector<at::Tensor> gains = tensors.each("norm.weight", modules);
        const std::vector<at::Tensor> biases = tensors.each("norm.bias", modules);
        for (std::size_t module = 0; module < modules; ++module) {
            m_norms.push_back({isLayer ? kernels::NormKind::layer : kernels::NormKind::rms, gains[module],
                               biases[module], wiring.epsilon});
        }
    }

    [[nodiscard]] at::Tensor join(const DepthStep& step, std::span<const at::Tensor> inputs) override
    {
        const at::Tensor& x = inputs[0];
        const at::Tensor residual = step.residual == 1 ? x : x * step.residual;
        return normalisedSum(m_norms[step.row], residual, inputs[1], x.scalar_type()).normalised;
    }

private:
    std::vector<Norm> m_norms;
};

/// LAuReL (Menghani et al., 2024). A wiring has one or several of its parts.
/// - RW (section 2.1): α·f + β·x. Free factors start from 1; bounded ones are computed from logits that start from 0.
/// - LR (section 2.2): f + x + A·B·x; with RW α·f + β·(x + A·B·x). B starts by the document's law and A from zero, so
///   nothing is added at first.
/// - PA (section 2.3): LR that maps Σ_k γ_k·x_{−k}, over the latest activations from the layer's input on, instead of
///   x. The map is linear, so the activations are mixed before it.
class LaurelRule final : public DepthRule {
public:
    LaurelRule(const BranchGate& wiring, const WiringTensors& tensors, std::size_t modules, const Compute& compute)
        : m_bound(wiring.bound),
          m_compute(compute),
          m_factor(tensors["factor"]),
          m_down(tensors.each("down.weight", modules)),
          m_up(tensors.each("up.weight", modules)),
          m_gamma(tensors["coefficient"])
    {
        for (std::size_t module = 1; module <= modules; ++module) {
            m_counts.push_back(std::min(wiring.window, static_cast<std::int64_t>(module)));
        }
    }

    void begin(const Pass&) override
    {
        if (m_gamma.defined()) {
            m_gammas = m_gamma.split_with_sizes(m_counts);
        }
        if (m_factor.defined()) {
            m_factors = laurelFactors(m_bound, m_factor).flatten().unbind(0);
        }
    }
    [[nodiscard]] std::vector<at::Tensor> mix(const DepthStep& step, const MixInputs& inputs,
                                              DepthStack* stack) override
    {
        MixWeights weights;
        weights.weights = m_gammas[step.row].unsqueeze(0);
        return stack->mix(inputs.entries, weights, 1);
    }
    /// `inputs` ends with what is mapped.
    [[nodiscard]] at::Tensor join(const DepthStep& step, std::span<const at::Tensor> inputs) override
    {
        at::Tensor residual = inputs[0];
        at::Tensor map;
        if (m_down[step.row].defined()) {
            const at::Tensor& x = m_gamma.defined() ? inputs[2] : inputs[0];
            map = linear(m_compute, linear(m_compute, x, m_down[step.row]), m_up[step.row]);
        }
        if (!m_factor.defined()) {
            return residual + inputs[1] + map;
        }
        residual = map.defined() ? residual + map : residual;
        return residual * m_factors[2 * step.row + 1] + inputs[1].to(residual.scalar_type()) * m_factors[2 * step.row];
    }
    /// Returns "mix": γ of activation i at layer j of PA, or RW unfolded. RW adds "coefficient", its learned
    /// parameters: α and β of each layer, or their logits.
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        const at::NoGradGuard noGrad;
        std::vector<Matrix> result;
        if (m_gamma.defined()) {
            result.push_back(gammaMatrix(step));
        } else if (m_factor.defined()) {
            const at::Tensor factors = laurelFactors(m_bound, m_factor);
            result.push_back(unfoldedFactors(factors.select(1, 0), factors.select(1, 1), step));
        }
        if (m_factor.defined()) {
            result.push_back(coefficientMatrix(m_factor, 2, step));
        }
        return result;
    }

private:
    [[nodiscard]] Matrix gammaMatrix(std::int64_t step) const
    {
        const std::vector<double> gamma = hostNumbers(m_gamma);
        auto next = gamma.begin();
        std::vector<std::vector<double>> rows;
        for (std::size_t layer = 0; layer < m_counts.size(); ++layer) {
            std::vector<double>& row = rows.emplace_back(layer + 1 - static_cast<std::size_t>(m_counts[layer]), kNone);
            row.insert(row.end(), next, next + m_counts[layer]);
            next += m_counts[layer];
        }
        return mixMatrix(rows, step);
    }

    LaurelBound m_bound;
    Compute m_compute;
    at::Tensor m_factor; ///< of RW: [L, 2]
    std::vector<at::Tensor> m_factors;
    std::vector<at::Tensor> m_down;     ///< B of each layer: [r, d]; undefined without maps
    std::vector<at::Tensor> m_up;       ///< A: [d, r]
    std::vector<std::int64_t> m_counts; ///< activations that each layer of PA mixes
    at::Tensor m_gamma;                 ///< of all layers of PA, concatenated; the oldest activation first
    std::vector<at::Tensor> m_gammas;
};

/// Value residual (Zhou et al., 2024, eq. 7): the plain sum over attentions that share the first one's values.
class ValueResidualRule final : public DepthRule {
public:
    explicit ValueResidualRule(const at::Tensor& factor)
        : m_factor(factor), m_values(std::make_shared<ValueResidual>(factor))
    {
    }

    /// Returns an error unless the attentions of all layers have values of one shape.
    [[nodiscard]] Status connect(LayerStack& layers)
    {
        std::string expected;
        for (std::size_t layer = 0; layer < layers.size(); ++layer) {
            for (Operator* const step : layers.operators(layer)) {
                auto* const user = dynamic_cast<ValueUser*>(step);
                if (user == nullptr) {
                    continue;
                }
                const std::string shape = user->valueShape();
                if (layer > 0 && shape != expected) {
                    return Error{"layer " + std::to_string(layer + 1),
                                 "has values of " + shape + ", the first layer " + expected};
                }
                expected = shape;
                user->share(m_values);
            }
        }
        layers.keepActivations();
        return Done{};
    }

    void begin(const Pass&) override { m_values->begin(); }
    [[nodiscard]] bool restarts() const override { return false; }
    void end() override { m_values->end(); }
    /// Returns "coefficient": row j has the weight of the first layer's values in column 0 and of layer j's own in
    /// column 1.
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        Matrix matrix = coefficientMatrix(m_factor, 2, step);
        ++matrix.rows;
        matrix.values.insert(matrix.values.begin(), {std::numeric_limits<float>::quiet_NaN(), 1.0F});
        return {std::move(matrix)};
    }

private:
    at::Tensor m_factor; ///< [L − 1, 2]
    std::shared_ptr<ValueResidual> m_values;
};

} // namespace

at::Tensor laurelFactors(LaurelBound bound, const at::Tensor& learned)
{
    return bound == LaurelBound::Sigmoid   ? at::sigmoid(learned)
           : bound == LaurelBound::Softmax ? at::softmax(learned, 1)
                                           : learned;
}

DepthRuleResult makeRule(const BranchGate& wiring, LayerStack& layers, std::int64_t width, InitPlan& plan)
{
    using Made = std::unique_ptr<DepthRule>;
    const std::size_t modules = layers.rows();
    const WiringTensors tensors(projects::parametersOf(wiring, static_cast<std::int64_t>(layers.rowLayers()), width),
                                plan);
    switch (wiring.gate) {
    case BranchGateKind::Highway:
        return Made(std::make_unique<HighwayRule>(tensors, modules, plan.compute()));
    case BranchGateKind::ReZero:
        return Made(std::make_unique<ReZeroRule>(tensors["alpha"], modules / layers.rowLayers()));
    case BranchGateKind::LaurelRw:
    case BranchGateKind::LaurelLr:
    case BranchGateKind::LaurelRwLr:
    case BranchGateKind::LaurelPa:
    case BranchGateKind::LaurelRwLrPa:
        return Made(std::make_unique<LaurelRule>(wiring, tensors, modules, plan.compute()));
    case BranchGateKind::PostNorm:
        return Made(std::make_unique<PostNormRule>(wiring, tensors, modules));
    case BranchGateKind::ValueResidual:
        break;
    }
    auto values = std::make_unique<ValueResidualRule>(tensors["values"]);
    RESIDUA_TRY(values->connect(layers));
    return Made(std::move(values));
}

} // namespace residua::engine
