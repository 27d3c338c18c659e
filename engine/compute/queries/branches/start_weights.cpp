// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/branches/transferred_run.h"

#include "engine/compute/depth/depth_rule.h"
#include "engine/compute/train/tensor_io.h"
#include "projects/depth/depth_parameters.h"
#include "projects/depth/depth_plan.h"
#include "projects/depth/shared_mix.h"
#include "projects/depth/unrolled_depth.h"
#include "projects/model/parameter_name.h"
#include "projects/transfer/retrofit.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace residua::engine {
namespace {

using projects::BranchGate;
using projects::BranchGateKind;
using projects::DepthMix;
using projects::Granularity;
using projects::LaurelBound;
using projects::MixNumbers;
using projects::MultiStream;
using projects::Project;
using projects::UnrolledDepth;

/// Returns what the modules of a wiring are: layers or halves.
Granularity granularityOf(const projects::Wiring& wiring)
{
    return projects::modulesIn(wiring, 1) > 1 ? Granularity::Half : Granularity::Layer;
}

/// Returns the parameters that give α and β, or nullopt if these are out of bounds.
std::optional<std::pair<double, double>> logitsOf(LaurelBound bound, double alpha, double beta)
{
    const bool within = alpha > 0 && beta > 0 && alpha < 1 && beta < 1;
    switch (bound) {
    case LaurelBound::None:
        return std::pair(alpha, beta);
    case LaurelBound::Sigmoid:
        return within ? std::optional(std::pair(std::log(alpha / (1 - alpha)), std::log(beta / (1 - beta))))
                      : std::nullopt;
    case LaurelBound::Softmax:
        return within && std::abs(alpha + beta - 1) <= 1e-9 ? std::optional(std::pair(std::log(alpha), std::log(beta)))
                                                            : std::nullopt;
    }
    return std::nullopt;
}

/// Unrolls the recursion of a learned wiring. Requires that departureFromSums() finds no obstacle.
class Unroller {
public:
    Unroller(const Project& project, const TopologyWeights& learned, Granularity granularity)
        : m_project(project), m_layers(project.network.depth()), m_learned(learned), m_granularity(granularity)
    {
    }

    Result<UnrolledDepth> operator()(const DepthMix& mix) const
    {
        if (mix.gate.kind != projects::GateKind::None && !isZero(projects::kTopologyGate)) {
            return projects::departureByGates(m_project.stack().topology);
        }
        const projects::DepthPlan plan = projects::planOf(mix, m_layers);
        std::optional<MixNumbers> coefficients =
            projects::coefficientsOf(m_project.stack(), plan, numbers(projects::kTopologyCoefficient));
        if (!coefficients) {
            return Error{"topology", "the checkpoint's weights do not fit its project"};
        }
        MixNumbers applied = projects::appliedWeights(mix, plan, *std::move(coefficients));
        if (mix.gate.kind == projects::GateKind::Inside) {
            std::ranges::for_each(applied.values, [](double& weight) { weight = std::max(weight, 0.0); });
        }
        return projects::unrolled(mix, m_layers, applied, m_granularity);
    }

    Result<UnrolledDepth> operator()(const MultiStream& wiring) const
    {
        const double exit = wiring.exit == projects::StreamExit::Mean ? 1 / static_cast<double>(wiring.streams) : 1;
        const StreamTerms terms = streamTerms(tensor(projects::kTopologyRead).unsqueeze(2),
                                              tensor(projects::kTopologyCarry), tensor(projects::kTopologyWrite));
        const std::vector<double> weights = terms.numbers(at::full({wiring.streams}, exit, at::kDouble));
        return projects::unrolled(projects::programOf(wiring, m_layers), {1, weights}, m_granularity);
    }

    Result<UnrolledDepth> operator()(const BranchGate& wiring) const
    {
        // The factors of residual and branch of each module. In ReZero both halves of a layer share one.
        at::Tensor factors;
        if (wiring.gate == BranchGateKind::ReZero) {
            const at::Tensor alpha = tensor(projects::kTopologyAlpha).repeat_interleave(projects::modulesIn(wiring, 1));
            factors = at::stack({at::ones_like(alpha), alpha}, 1);
        } else { // LAuReL-RW
            factors = laurelFactors(wiring.bound, tensor(projects::kTopologyFactor)).flip(1);
        }
        const auto program = projects::factorProgram(static_cast<std::size_t>(factors.size(0)), granularityOf(wiring));
        return projects::unrolled(program, {1, hostNumbers(factors)}, m_granularity);
    }

    Result<UnrolledDepth> operator()(const projects::Concatenation&) const
    {
        return *projects::departureFromSums(m_project.stack().topology);
    }

private:
    [[nodiscard]] at::Tensor tensor(const std::string& name) const
    {
        const auto found = m_learned.find(name);
        return found == m_learned.end() ? at::Tensor() : found->second;
    }
    [[nodiscard]] bool isZero(const std::string& name) const
    {
        const at::Tensor values = tensor(name);
        return !values.defined() || !values.any().item<bool>();
    }
    /// Returns the parameter as numbers, with a term per index of its first dimension and a feature per index of its
    /// second.
    [[nodiscard]] MixNumbers numbers(const std::string& name) const
    {
        MixNumbers result;
        if (const at::Tensor values = tensor(name); values.defined()) {
            result.features = values.dim() == 2 ? values.size(1) : 1;
            result.values = hostNumbers(values);
        }
        return result;
    }

    const Project& m_project;
    std::int64_t m_layers;
    const TopologyWeights& m_learned;
    Granularity m_granularity;
};

at::Tensor tensorOf(const std::vector<double>& values)
{
    return at::tensor(values, at::kDouble);
}

/// Computes the parameters with which a new wiring computes an unrolled one.
struct Maker {
    const Project& project;
    const UnrolledDepth& wanted;

    Result<TopologyWeights> operator()(const DepthMix& mix) const
    {
        const projects::Stack& layers = project.stack();
        if (projects::sharesMix(layers) && traitsOf(mix.weight).isLearned) {
            return Error{"/network/loops", "the visits of a loop share the weights of the new topology, which are "
                                           "solved for each visit; expected a run whose visits have weights of their "
                                           "own, --set /network/loops/0/rows=visit"};
        }
        const MixNumbers applied = RESIDUA_TRY(projects::weightsFor(mix, layers, wanted));
        if (!traitsOf(mix.weight).isLearned) {
            return TopologyWeights{};
        }
        const MixNumbers coefficients = RESIDUA_TRY(projects::coefficientsFor(mix, layers, applied));
        at::Tensor values = tensorOf(coefficients.values);
        if (traitsOf(mix.weight).isPerToken) {
            return biasesOf(mix, values);
        }
        if (traitsOf(mix.weight).isPerFeature) {
            values = values.view({-1, coefficients.features}).expand({-1, project.stack().width});
        }
        return TopologyWeights{{projects::kTopologyCoefficient, values}};
    }

    Result<TopologyWeights> operator()(const BranchGate& wiring) const
    {
        const bool factors = wiring.gate == BranchGateKind::ReZero || wiring.gate == BranchGateKind::LaurelRw;
        const bool shifted = projects::sitesOf(wiring) == projects::MixSites::Ffn;
        const MixNumbers found =
            RESIDUA_TRY(factors && !shifted ? projects::factorsFor(project.stack(), wanted, granularityOf(wiring))
                                            : Result<MixNumbers>(impossible()));
        if (wiring.gate == BranchGateKind::LaurelRw) {
            return factorsOf(wiring.bound, found.values);
        }
        const at::Tensor both = tensorOf(found.values).view({project.network.depth(), -1, 2});
        const at::Tensor alpha = both.select(2, 1); // both halves of a layer share it
        const at::Tensor fits = at::logical_and(both.select(2, 0) == 1, alpha == alpha.narrow(1, 0, 1));
        return fits.all().item<bool>() ? Result<TopologyWeights>(TopologyWeights{
                                             {projects::kTopologyAlpha, alpha.select(1, 0).contiguous()}})
                                       : Result<TopologyWeights>(impossible());
    }

    Result<TopologyWeights> operator()(const MultiStream&) const { return impossible(); }
    Result<TopologyWeights> operator()(const projects::Concatenation&) const { return impossible(); }

private:
    [[nodiscard]] Error impossible() const { return projects::cannotGiveSums(project.stack().topology); }

    /// `found` has the factors of residual and branch of each layer.
    [[nodiscard]] static Result<TopologyWeights> factorsOf(LaurelBound bound, const std::vector<double>& found)
    {
        std::vector<double> learned;
        for (std::size_t i = 0; i < found.size(); i += 2) {
            const auto logits = logitsOf(bound, found[i + 1], found[i]);
            if (!logits) {
                return Error{"topology", "its factors are bounded, and those of layer " + std::to_string(i / 2 + 1) +
                                             " would have to be " + std::to_string(found[i + 1]) + " and " +
                                             std::to_string(found[i]) + "; choose no bound"};
            }
            learned.insert(learned.end(), {logits->first, logits->second});
        }
        return TopologyWeights{{projects::kTopologyFactor, tensorOf(learned).view({-1, 2})}};
    }

    /// Returns the biases of weights computed per token, which start as these biases (token_weights.cpp).
    [[nodiscard]] TopologyWeights biasesOf(const DepthMix& mix, const at::Tensor& values) const
    {
        TopologyWeights result;
        std::int64_t first = 0;
        for (const projects::WiringParameter& parameter :
             projects::parametersOf(mix, project.network.depth(), project.stack().width)) {
            if (projects::lastOf(parameter.name) == "bias") {
                result[parameter.name] = values.narrow(0, first, parameter.shape.front());
                first += parameter.shape.front();
            }
        }
        return result;
    }
};

/// Reads the stored parameters of a topology.
Result<TopologyWeights> topologyIn(const TensorFiles& stored)
{
    TopologyWeights weights;
    for (const auto& [name, tensor] : stored.tensors()) {
        if (!name.starts_with(projects::kTopologyPrefix)) {
            continue;
        }
        const at::Tensor values = RESIDUA_TRY(readTensor(stored, name));
        weights[name] = values.to(at::kDouble).contiguous();
    }
    return weights;
}

} // namespace

Result<TopologyWeights> weightsThatKeep(const Project& before, const TensorFiles& learned, const Project& after)
{
    if (const auto refused = projects::departureFromSums(before.stack().topology)) {
        return *refused;
    }
    if (std::ranges::any_of(before.stack().loops, projects::changesState)) {
        return Error{"/network/loops", "a loop changes the residual between visits, which no weights of another "
                                       "topology express"};
    }
    const Granularity granularity =
        projects::granularityFor(before.stack().topology.wiring, after.stack().topology.wiring);
    const TopologyWeights weights = RESIDUA_TRY(topologyIn(learned));
    const Result<UnrolledDepth> wanted =
        std::visit(Unroller(before, weights, granularity), before.stack().topology.wiring);
    return wanted ? std::visit(Maker{after, *wanted}, after.stack().topology.wiring)
                  : Result<TopologyWeights>(wanted.error());
}

void holdNumbers(const Project& project, std::vector<NamedParameter>& parameters)
{
    const auto* const mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    const auto coefficient =
        std::ranges::find(parameters, std::string(projects::kTopologyCoefficient), &NamedParameter::name);
    if (mix == nullptr || mix->states.empty() || coefficient == parameters.end()) {
        return;
    }
    const at::NoGradGuard noGrad;
    for (const projects::HeldTerm& term : projects::heldTerms(*mix, projects::planOf(*mix, project.network.depth()))) {
        if (term.number) {
            coefficient->tensor.select(0, static_cast<std::int64_t>(term.place)).fill_(*term.number);
        }
    }
}

} // namespace residua::engine
