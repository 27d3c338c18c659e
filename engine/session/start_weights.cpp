// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/start_weights.h"

#include "engine/train/tensor_io.h"
#include "projects/depth/unrolled_depth.h"

#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace residua::engine {
namespace {

using projects::BranchGate;
using projects::BranchGateKind;
using projects::BranchUnit;
using projects::DepthMix;
using projects::MixNumbers;
using projects::MultiStream;
using projects::Project;
using projects::UnrolledDepth;
using projects::WeightKind;

constexpr const char* kCoefficient = "topology.coefficient";
constexpr const char* kGate = "topology.gate";
constexpr const char* kAlpha = "topology.alpha";
constexpr const char* kFactor = "topology.factor";

/// What a run has learned of its wiring, without its recursion.
class Unroller {
public:
    Unroller(const Project& project, const StoredTensors& learned, BranchUnit unit)
        : m_project(project), m_layers(project.network.depth()), m_learned(learned), m_unit(unit)
    {
    }

    Result<UnrolledDepth> operator()(const DepthMix& mix) const
    {
        if (mix.weight == WeightKind::PerToken || mix.weight == WeightKind::DepthAttention) {
            return impossible("its weights are made from the input, for each token");
        }
        if (mix.gate.kind != projects::GateKind::None && !isZero(kGate)) {
            return impossible("its gates depend on the input");
        }
        const projects::DepthPlan plan = projects::planOf(mix, m_layers);
        std::optional<MixNumbers> coefficients = projects::withLearned(mix, plan, numbers(kCoefficient));
        if (!coefficients) {
            return impossible("the checkpoint's weights do not fit its project");
        }
        MixNumbers applied = projects::appliedWeights(mix, plan, *std::move(coefficients));
        if (mix.gate.kind == projects::GateKind::Inside) {
            std::ranges::for_each(applied.values, [](double& weight) { weight = std::max(weight, 0.0); });
        }
        return projects::unrolled(mix, m_layers, applied, m_unit);
    }

    Result<UnrolledDepth> operator()(const MultiStream& wiring) const
    {
        if (wiring.weights == projects::StreamWeights::Dynamic) {
            return impossible("the weights of its streams are made from the input, for each token");
        }
        if (wiring.constraint != projects::StreamConstraint::None) {
            return impossible("its streams are mixed by a matrix that is doubly stochastic only nearly");
        }
        const std::vector<double> read = numbers("topology.read").values;
        const std::vector<double> carry = numbers("topology.carry").values;
        const std::vector<double> write = numbers("topology.write").values;
        std::vector<projects::StreamLayer> layers;
        const auto part = [](const std::vector<double>& of, std::size_t index, std::size_t size) {
            const auto begin = of.begin() + static_cast<std::ptrdiff_t>(index * size);
            return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(size));
        };
        const auto n = static_cast<std::size_t>(wiring.streams);
        for (std::size_t layer = 0; layer < static_cast<std::size_t>(m_layers); ++layer) {
            layers.push_back({part(read, layer, n), part(carry, layer, n * n), part(write, layer, n)});
        }
        return projects::unrolled(layers, m_unit);
    }

    Result<UnrolledDepth> operator()(const BranchGate& wiring) const
    {
        const auto count = static_cast<std::size_t>(m_layers);
        std::vector<double> branch(count, 1.0);
        std::vector<double> residual(count, 1.0);
        switch (wiring.gate) {
        case BranchGateKind::ReZero:
            branch = numbers(kAlpha).values;
            break;
        case BranchGateKind::LaurelRw: {
            const std::vector<double> factors = numbers(kFactor).values;
            for (std::size_t layer = 0; layer < count; ++layer) {
                branch[layer] = factors[2 * layer];
                residual[layer] = factors[2 * layer + 1];
            }
            break;
        }
        case BranchGateKind::StochasticDepth:
            if (wiring.keepProbability != 1) {
                return impossible("it drops branches at random");
            }
            break;
        case BranchGateKind::Highway:
            return impossible("its gates depend on the input");
        case BranchGateKind::ValueResidual:
            return impossible("it mixes values inside the attentions");
        case BranchGateKind::LaurelLr:
        case BranchGateKind::LaurelPa:
            return impossible("it adds maps of low rank of what was before, which mix the features");
        }
        return projects::unrolled(branch, residual, m_unit);
    }

    Result<UnrolledDepth> operator()(const projects::Concatenation&) const
    {
        return impossible("its projections mix the features");
    }

private:
    [[nodiscard]] Error impossible(const std::string& why) const
    {
        return {"topology",
                "the run's own, " + m_project.topology.preset + ", computes what no weights of another do: " + why};
    }

    [[nodiscard]] at::Tensor tensor(const std::string& name) const
    {
        const auto found = m_learned.find(name);
        return found == m_learned.end() ? at::Tensor() : viewOf(found->second).to(at::kDouble).contiguous();
    }
    [[nodiscard]] bool isZero(const std::string& name) const
    {
        const at::Tensor values = tensor(name);
        return !values.defined() || !values.any().item<bool>();
    }
    /// By its first dimension, with a feature for each of the second.
    [[nodiscard]] MixNumbers numbers(const std::string& name) const
    {
        MixNumbers result;
        if (const at::Tensor values = tensor(name); values.defined()) {
            const double* const data = values.const_data_ptr<double>();
            result.features = values.dim() == 2 ? values.size(1) : 1;
            result.values.assign(data, data + values.numel());
        }
        return result;
    }

    const Project& m_project;
    std::int64_t m_layers;
    const StoredTensors& m_learned;
    BranchUnit m_unit;
};

at::Tensor tensorOf(const std::vector<double>& values)
{
    return at::tensor(values, at::kDouble);
}

/// The parameters of a new wiring that computes an unrolled one.
struct Maker {
    const Project& project;
    const UnrolledDepth& wanted;

    Result<TopologyWeights> operator()(const DepthMix& mix) const
    {
        const std::int64_t layers = project.network.depth();
        const Result<MixNumbers> applied = projects::weightsFor(mix, layers, wanted);
        if (!applied) {
            return applied.error();
        }
        const bool learns = mix.weight != WeightKind::Fixed && mix.weight != WeightKind::DepthAttention;
        if (!learns) {
            return TopologyWeights{};
        }
        const Result<MixNumbers> coefficients = projects::coefficientsFor(mix, layers, *applied);
        if (!coefficients) {
            return coefficients.error();
        }
        at::Tensor values = tensorOf(coefficients->values);
        if (mix.weight == WeightKind::PerToken) {
            return biasesOf(mix, values);
        }
        if (mix.weight == WeightKind::PerFeature) {
            values = values.view({-1, coefficients->features}).expand({-1, project.network.width});
        }
        return TopologyWeights{{kCoefficient, values}};
    }

    Result<TopologyWeights> operator()(const BranchGate& wiring) const
    {
        const bool factors = wiring.gate == BranchGateKind::ReZero || wiring.gate == BranchGateKind::LaurelRw;
        const Result<projects::ResidualFactors> found =
            factors ? projects::factorsFor(wanted) : Result<projects::ResidualFactors>(impossible());
        if (!found) {
            return found.error();
        }
        if (wiring.gate == BranchGateKind::LaurelRw) {
            return TopologyWeights{{kFactor, at::stack({tensorOf(found->branch), tensorOf(found->residual)}, 1)}};
        }
        const bool carries = std::ranges::all_of(found->residual, [](double factor) { return factor == 1; });
        return carries ? Result<TopologyWeights>(TopologyWeights{{kAlpha, tensorOf(found->branch)}})
                       : Result<TopologyWeights>(impossible());
    }

    Result<TopologyWeights> operator()(const MultiStream&) const { return impossible(); }
    Result<TopologyWeights> operator()(const projects::Concatenation&) const { return impossible(); }

private:
    [[nodiscard]] Error impossible() const
    {
        return {"topology", "what the run's own has learned cannot be said by the weights of " +
                                project.topology.preset + "; grn-v2 and dca can say it"};
    }

    /// Weights that are made for each token start as their biases (token_weights.cpp).
    [[nodiscard]] TopologyWeights biasesOf(const DepthMix& mix, const at::Tensor& values) const
    {
        TopologyWeights result;
        std::int64_t first = 0;
        for (const projects::DepthReader& reader : projects::planOf(mix, project.network.depth()).readers) {
            if (reader.terms() > 0) {
                result["topology." + std::to_string(reader.target) + ".bias"] = values.narrow(0, first, reader.terms());
                first += reader.terms();
            }
        }
        return result;
    }
};

} // namespace

Result<TopologyWeights> weightsThatKeep(const Project& before, const StoredTensors& learned, const Project& after)
{
    const BranchUnit unit = projects::unitFor(before.topology.wiring, after.topology.wiring);
    const Result<UnrolledDepth> wanted = std::visit(Unroller(before, learned, unit), before.topology.wiring);
    return wanted ? std::visit(Maker{after, *wanted}, after.topology.wiring) : Result<TopologyWeights>(wanted.error());
}

} // namespace residua::engine
