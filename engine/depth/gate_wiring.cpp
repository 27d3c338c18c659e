// SPDX-License-Identifier: GPL-3.0-or-later
// Gates on the residual or the branch of each layer: one Joint per kind, which computes the next layer's input from a
// layer's input x and its branch f. The residual is kept in its own precision, as in the plain network.
#include "engine/api/matrix_name.h"
#include "engine/depth/depth_stack.h"
#include "engine/depth/layer_wiring.h"
#include "engine/graph/value_residual.h"
#include "projects/model/parameter_name.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

namespace residua::engine {

using projects::BranchGate;
using projects::BranchGateKind;
using projects::LaurelBound;

namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

std::vector<float> hostNumbers(const at::Tensor& tensor)
{
    const at::Tensor host = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
    return {host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel()};
}

/// Unfolds x_j = branch_j·f_j + residual_j·x_{j−1} into weights of entries: the weight of f_i at reader j is
/// branch_i·residual_{i+1} ⋯ residual_{j−1}.
Matrix unfoldedFactors(const std::vector<float>& branch, const std::vector<float>& residual, std::int64_t step)
{
    std::vector<std::vector<float>> rows{{1}};
    for (std::size_t layer = 0; layer < branch.size(); ++layer) {
        std::vector<float> row = rows.back();
        for (float& weight : row) {
            weight *= residual[layer];
        }
        row.push_back(branch[layer]);
        rows.push_back(std::move(row));
    }
    return unfolded(rows, step);
}

/// Computes the next layer's input from a layer's input and its branch. Layers count from 0.
class Joint {
public:
    virtual ~Joint() = default;
    /// Starts and ends a pass.
    virtual void begin(const at::Tensor& /*input*/) {}
    virtual void end() {}
    [[nodiscard]] virtual at::Tensor join(std::size_t layer, const at::Tensor& x, const at::Tensor& branch) = 0;
    /// Returns the next layer's input if the pass leaves the layer out: by default its own input.
    [[nodiscard]] virtual at::Tensor leftOut(std::size_t /*layer*/, const at::Tensor& x) { return x; }
    [[nodiscard]] virtual std::vector<Matrix> coefficients(std::int64_t /*step*/) { return {}; }
};

/// ReZero (Bachlechner et al., 2020): x + α·f with α = 0 at the start, so that the stack is the identity. Both halves
/// of a layer share its α (section 4).
class ReZeroJoint final : public Joint {
public:
    ReZeroJoint(std::int64_t layers, std::int64_t modules, InitPlan& plan)
        : m_alpha(plan.addConstant(projects::kTopologyAlpha, {layers}, 0, Decay::No)),
          m_each(static_cast<std::size_t>(modules / layers))
    {
    }

    void begin(const at::Tensor&) override { m_alphas = m_alpha.unbind(0); }
    [[nodiscard]] at::Tensor join(std::size_t layer, const at::Tensor& x, const at::Tensor& branch) override
    {
        return x + branch.to(x.scalar_type()) * m_alphas[layer / m_each];
    }
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        const std::vector<float> alpha = hostNumbers(m_alpha.repeat_interleave(static_cast<std::int64_t>(m_each)));
        return {unfoldedFactors(alpha, std::vector<float>(alpha.size(), 1), step),
                {matrix::kCoefficient, step, static_cast<std::int64_t>(alpha.size()), 1, alpha}};
    }

private:
    at::Tensor m_alpha; ///< [L]
    std::size_t m_each; ///< modules per layer
    std::vector<at::Tensor> m_alphas;
};

/// LAuReL-RW (Menghani et al., 2024, section 2.1): α·f + β·x. Free factors start from 1; bounded ones are computed from
/// logits that start from 0.
class ResidualWeights {
public:
    ResidualWeights(projects::LaurelBound bound, std::int64_t depth, InitPlan& plan)
        : m_bound(bound),
          m_factor(
              plan.addConstant(projects::kTopologyFactor, {depth, 2}, bound == LaurelBound::None ? 1 : 0, Decay::No))
    {
    }

    void begin() { m_factors = applied().flatten().unbind(0); }
    /// Returns α·branch + β·residual of a layer.
    [[nodiscard]] at::Tensor sum(std::size_t layer, const at::Tensor& residual, const at::Tensor& branch) const
    {
        return residual * m_factors[2 * layer + 1] + branch.to(residual.scalar_type()) * m_factors[2 * layer];
    }
    /// Returns α and β of x_j = α·f_j + β·x_{j−1} as weights of entries, and the learned parameters.
    [[nodiscard]] std::vector<Matrix> matrices(std::int64_t step) const
    {
        const at::NoGradGuard noGrad;
        const at::Tensor factors = applied();
        return {unfoldedFactors(hostNumbers(factors.select(1, 0)), hostNumbers(factors.select(1, 1)), step),
                learned(step)};
    }
    /// Returns "coefficient": α and β of each layer, or their logits.
    [[nodiscard]] Matrix learned(std::int64_t step) const
    {
        return {matrix::kCoefficient, step, m_factor.size(0), 2, hostNumbers(m_factor)};
    }

private:
    [[nodiscard]] at::Tensor applied() const
    {
        switch (m_bound) {
        case LaurelBound::None:
            return m_factor;
        case LaurelBound::Sigmoid:
            return at::sigmoid(m_factor);
        case LaurelBound::Softmax:
            return at::softmax(m_factor, 1);
        }
        return m_factor;
    }

    LaurelBound m_bound;
    at::Tensor m_factor; ///< [L, 2]: α, β or their logits
    std::vector<at::Tensor> m_factors;
};

/// Returns the residual weights of a kind that combines RW with another extension; nullopt if the factors are 1.
std::optional<ResidualWeights> residualWeightsOf(const BranchGate& wiring, std::int64_t depth, InitPlan& plan)
{
    return projects::hasResidualWeights(wiring.gate) ? std::optional<ResidualWeights>({wiring.bound, depth, plan})
                                                     : std::nullopt;
}

class ResidualWeightsJoint final : public Joint {
public:
    ResidualWeightsJoint(projects::LaurelBound bound, std::int64_t depth, InitPlan& plan)
        : m_weights(bound, depth, plan)
    {
    }

    void begin(const at::Tensor&) override { m_weights.begin(); }
    [[nodiscard]] at::Tensor join(std::size_t layer, const at::Tensor& x, const at::Tensor& branch) override
    {
        return m_weights.sum(layer, x, branch);
    }
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override { return m_weights.matrices(step); }

private:
    ResidualWeights m_weights;
};

/// Highway (Srivastava et al., 2015, eq. 3): t·f + (1 − t)·x, t = σ(W·x + b).
class HighwayJoint final : public Joint {
public:
    HighwayJoint(double bias, std::int64_t depth, std::int64_t width, InitPlan& plan) : m_compute(plan.compute())
    {
        for (std::int64_t layer = 1; layer <= depth; ++layer) {
            const std::string weight = projects::topologyParameter(layer, "gate.weight");
            m_weights.push_back(plan.add(weight, {width, width}, Role::Matrix));
            m_biases.push_back(plan.addConstant(projects::siblingOf(weight, "bias"), {width}, bias, Decay::No));
        }
    }

    [[nodiscard]] at::Tensor join(std::size_t layer, const at::Tensor& x, const at::Tensor& branch) override
    {
        const at::Tensor gate = at::sigmoid(linear(m_compute, x, m_weights[layer], m_biases[layer]));
        return x + (branch - x) * gate;
    }
    /// Returns "mix" with each gate at an input of 0, so that its bias alone decides.
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        const at::NoGradGuard noGrad;
        std::vector<float> open = hostNumbers(at::sigmoid(at::stack(m_biases)).mean(1));
        std::vector<float> closed(open.size());
        std::ranges::transform(open, closed.begin(), [](float t) { return 1 - t; });
        return {unfoldedFactors(open, closed, step),
                {matrix::kCoefficient, step, static_cast<std::int64_t>(open.size()), 1, open}};
    }

private:
    Compute m_compute;
    std::vector<at::Tensor> m_weights; ///< [d, d]
    std::vector<at::Tensor> m_biases;  ///< [d]
};

/// The maps d → r → d of all layers: A·B·x. B starts by the document's law and A from zero, so nothing is added at
/// first.
class LowRankMaps {
public:
    LowRankMaps(std::int64_t rank, std::int64_t depth, std::int64_t width, InitPlan& plan) : m_compute(plan.compute())
    {
        for (std::int64_t layer = 1; layer <= depth; ++layer) {
            const std::string down = projects::topologyParameter(layer, "down.weight");
            m_down.push_back(plan.add(down, {rank, width}, Role::Matrix));
            const std::string up = projects::topologyParameter(layer, "up.weight");
            m_up.push_back(plan.addConstant(up, {width, rank}, 0, Decay::Yes));
        }
    }

    [[nodiscard]] at::Tensor of(std::size_t layer, const at::Tensor& x) const
    {
        return linear(m_compute, linear(m_compute, x, m_down[layer]), m_up[layer]);
    }

private:
    Compute m_compute;
    std::vector<at::Tensor> m_down; ///< B: [r, d]
    std::vector<at::Tensor> m_up;   ///< A: [d, r]
};

/// LAuReL-LR (section 2.2): f + x + A·B·x; with RW α·f + β·(x + A·B·x).
class LowRankJoint final : public Joint {
public:
    LowRankJoint(const BranchGate& wiring, std::int64_t depth, std::int64_t width, InitPlan& plan)
        : m_weights(residualWeightsOf(wiring, depth, plan)), m_maps(wiring.rank, depth, width, plan)
    {
    }

    void begin(const at::Tensor&) override
    {
        if (m_weights) {
            m_weights->begin();
        }
    }
    [[nodiscard]] at::Tensor join(std::size_t layer, const at::Tensor& x, const at::Tensor& branch) override
    {
        return m_weights ? m_weights->sum(layer, x + m_maps.of(layer, x), branch) : x + branch + m_maps.of(layer, x);
    }
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        return m_weights ? m_weights->matrices(step) : std::vector<Matrix>();
    }

private:
    std::optional<ResidualWeights> m_weights;
    LowRankMaps m_maps;
};

/// LAuReL-PA (section 2.3): f + x + Σ_k γ_k·A·B·x_{−k} over the latest activations, starting with the layer's input.
/// The map is linear, so the activations are mixed before it, by DepthStack::mix. With RW and LR (section 2.4): α·f +
/// β·(x + Σ_k γ_k·A·B·x_{−k}).
class PreviousActivationsJoint final : public Joint {
public:
    PreviousActivationsJoint(const BranchGate& wiring, std::int64_t depth, std::int64_t width, InitPlan& plan)
        : m_compute(plan.compute()),
          m_weights(residualWeightsOf(wiring, depth, plan)),
          m_maps(wiring.rank, depth, width, plan)
    {
        std::vector<double> start;
        for (std::int64_t layer = 1; layer <= depth; ++layer) {
            m_counts.push_back(std::min(wiring.window, layer));
            start.insert(start.end(), static_cast<std::size_t>(m_counts.back()),
                         1.0 / static_cast<double>(m_counts.back()));
        }
        m_gamma = plan.addValues(projects::kTopologyCoefficient, at::tensor(start, at::kDouble), Decay::No);
    }

    void begin(const at::Tensor& input) override
    {
        m_stack.emplace(m_compute);
        m_stack->push(input);
        m_gammas = m_gamma.split_with_sizes(m_counts);
        if (m_weights) {
            m_weights->begin();
        }
    }
    void end() override { m_stack.reset(); }

    [[nodiscard]] at::Tensor join(std::size_t layer, const at::Tensor& x, const at::Tensor& branch) override
    {
        MixWeights weights;
        weights.weights = m_gammas[layer].unsqueeze(0);
        std::vector<std::size_t> sources;
        for (std::int64_t i = m_counts[layer]; i > 0; --i) {
            sources.push_back(layer + 1 - static_cast<std::size_t>(i));
        }
        const at::Tensor mixed = m_stack->mix(sources, weights, 1).front();
        const at::Tensor map = m_maps.of(layer, mixed);
        return put(layer, m_weights ? m_weights->sum(layer, x + map, branch) : x + branch + map);
    }
    /// The activation after a layer left out is its input again.
    [[nodiscard]] at::Tensor leftOut(std::size_t layer, const at::Tensor& x) override { return put(layer, x); }
    /// Returns "mix": γ of activation i at layer j; with RW also its factors.
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        const std::vector<float> gamma = hostNumbers(m_gamma);
        auto next = gamma.begin();
        std::vector<std::vector<float>> rows;
        for (std::size_t layer = 0; layer < m_counts.size(); ++layer) {
            std::vector<float>& row = rows.emplace_back(layer + 1 - static_cast<std::size_t>(m_counts[layer]), kNone);
            row.insert(row.end(), next, next + m_counts[layer]);
            next += m_counts[layer];
        }
        std::vector<Matrix> result{unfolded(rows, step)};
        if (m_weights) {
            result.push_back(m_weights->learned(step));
        }
        return result;
    }

private:
    /// Stores the activation after a layer if a later layer reads it, and returns it.
    [[nodiscard]] at::Tensor put(std::size_t layer, const at::Tensor& next)
    {
        const bool read = layer + 1 < m_counts.size();
        return read ? m_stack->entry(m_stack->push(next)).to(next.scalar_type()) : next;
    }

    Compute m_compute;
    std::optional<ResidualWeights> m_weights;
    LowRankMaps m_maps;
    std::vector<std::int64_t> m_counts; ///< activations that each layer mixes
    at::Tensor m_gamma;                 ///< of all layers, concatenated; the oldest activation first
    std::vector<at::Tensor> m_gammas;
    std::optional<DepthStack> m_stack;
};

/// Value residual (Zhou et al., 2024, eq. 7): the plain sum over attentions that share the first one's values.
class ValueResidualJoint final : public Joint {
public:
    ValueResidualJoint(std::int64_t depth, InitPlan& plan)
        : m_factor(plan.addConstant(projects::kTopologyValues, {depth - 1, 2}, 0.5, Decay::No)),
          m_values(std::make_shared<ValueResidual>(m_factor))
    {
    }

    /// Returns an error unless every layer has one attention, with values of one shape.
    [[nodiscard]] Status connect(LayerStack& layers)
    {
        std::string expected;
        for (std::size_t layer = 0; layer < layers.size(); ++layer) {
            std::vector<ValueUser*> users;
            for (Operator* const step : layers.operators(layer)) {
                if (auto* const user = dynamic_cast<ValueUser*>(step)) {
                    users.push_back(user);
                }
            }
            const std::string place = "layer " + std::to_string(layer + 1);
            if (users.size() != 1) {
                return Error{place, "has " + std::to_string(users.size()) + " attentions, expected one to mix values"};
            }
            const std::string shape = users.front()->valueShape();
            if (layer > 0 && shape != expected) {
                return Error{place, "has values of " + shape + ", the first layer " + expected};
            }
            expected = shape;
            users.front()->share(m_values, layer);
        }
        layers.keepActivations();
        return Done{};
    }

    void begin(const at::Tensor&) override { m_values->begin(); }
    void end() override { m_values->end(); }
    [[nodiscard]] at::Tensor join(std::size_t, const at::Tensor& x, const at::Tensor& branch) override
    {
        return x + branch;
    }
    /// Returns "coefficient": row j has the weight of the first layer's values in column 0 and of layer j's own in
    /// column 1.
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        std::vector<float> values{kNone, 1};
        std::ranges::copy(hostNumbers(m_factor), std::back_inserter(values));
        return {{matrix::kCoefficient, step, m_factor.size(0) + 1, 2, std::move(values)}};
    }

private:
    at::Tensor m_factor; ///< [L − 1, 2]
    std::shared_ptr<ValueResidual> m_values;
};

class GateWiring final : public LayerWiring {
public:
    GateWiring(std::unique_ptr<Joint> joint, LayerStack layers, at::ScalarType type)
        : m_joint(std::move(joint)), m_layers(std::move(layers)), m_type(type)
    {
    }

    [[nodiscard]] at::Tensor run(const at::Tensor& input, const Pass& pass) override
    {
        at::Tensor x = m_layers.enter(input, pass).to(m_type);
        m_joint->begin(x);
        for (std::size_t layer = 0; layer < m_layers.size(); ++layer) {
            x = m_layers.runs(layer, pass) ? m_joint->join(layer, x, m_layers.runOn(layer, x, pass))
                                           : m_joint->leftOut(layer, x);
        }
        m_joint->end();
        return x;
    }
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override { return m_joint->coefficients(step); }

private:
    std::unique_ptr<Joint> m_joint;
    LayerStack m_layers;
    at::ScalarType m_type;
};

Result<std::unique_ptr<Joint>> makeJoint(const BranchGate& wiring, LayerStack& layers, std::int64_t width,
                                         InitPlan& plan)
{
    using Made = std::unique_ptr<Joint>;
    const auto depth = static_cast<std::int64_t>(layers.size());
    switch (wiring.gate) {
    case BranchGateKind::Highway:
        return Made(std::make_unique<HighwayJoint>(wiring.bias, depth, width, plan));
    case BranchGateKind::ReZero:
        return Made(std::make_unique<ReZeroJoint>(static_cast<std::int64_t>(layers.layers()), depth, plan));
    case BranchGateKind::LaurelRw:
        return Made(std::make_unique<ResidualWeightsJoint>(wiring.bound, depth, plan));
    case BranchGateKind::LaurelLr:
    case BranchGateKind::LaurelRwLr:
        return Made(std::make_unique<LowRankJoint>(wiring, depth, width, plan));
    case BranchGateKind::LaurelPa:
    case BranchGateKind::LaurelRwLrPa:
        return Made(std::make_unique<PreviousActivationsJoint>(wiring, depth, width, plan));
    case BranchGateKind::ValueResidual:
        break;
    }
    auto values = std::make_unique<ValueResidualJoint>(depth, plan);
    if (const Status connected = values->connect(layers); !connected) {
        return connected.error();
    }
    return Made(std::move(values));
}

} // namespace

LayerWiringResult makeGateWiring(const BranchGate& wiring, LayerStack layers, std::int64_t width, InitPlan& plan)
{
    if (layers.size() == 0) {
        return Error{"network · stack", "has no layers to gate"};
    }
    Result<std::unique_ptr<Joint>> joint = makeJoint(wiring, layers, width, plan);
    if (!joint) {
        return joint.error();
    }
    return std::unique_ptr<LayerWiring>(
        std::make_unique<GateWiring>(std::move(*joint), std::move(layers), plan.compute().residualType));
}

} // namespace residua::engine
