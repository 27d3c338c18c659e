// SPDX-License-Identifier: GPL-3.0-or-later
// The costs of the steps of a DepthProgram. d: width, n: inputs of a step, O: its outputs. FLOP are per token. Branches
// that are stored as stack entries are counted with their blocks.
#include "projects/cost/cost_topology.h"

#include "projects/base/real.h"
#include "projects/depth/depth_program.h"
#include "projects/depth/stream_start.h"
#include "projects/nodes/node_kind_rules.h"

namespace residua::projects {
namespace {

/// Returns the cost of O mixes of n entries of `width` features. The mixes are kept for the backward pass.
NodeCost mixing(double n, double o, double width)
{
    return {0, 2 * n * o * width, o * width};
}

/// Returns the cost of a step without its parameters, which readers without a mix may also have. The sum in a shared
/// entry takes the place of the branch, and that of two families' branches is not kept.
NodeCost stepCost(const DepthMix& mix, const DepthStep& step, std::int64_t modules, double d)
{
    const bool isFinal = step.module > modules;
    if (step.kind == DepthStepKind::Add) {
        return {0, d, mix.blockLayers > 1 && !isRunningSum(mix) ? 0 : d};
    }
    if (step.kind != DepthStepKind::Mix) {
        return {};
    }
    const auto entries = static_cast<std::int64_t>(step.inputs.size());
    NodeCost cost =
        readerCost(mix, {entries, entries}, static_cast<int>(step.outputs), isFinal, static_cast<std::int64_t>(d));
    cost.parameters = 0;
    if (step.base && step.module > 1 && hasTwoFamilies(mix)) {
        cost.activationElements -= d;
    }
    return cost;
}

/// Streams have w features: d, or d/n of fractions. Weights that are always 0 or 1 are not counted.
/// - Static weights: n for each read, n to write, and those of the mixing matrix (StreamSizes::carry).
/// - Dynamic weights without a constraint (Hyper-Connections, eq. 10-13) add a gain (w; fractions also a bias w),
///   w weights for each logit, and 2 scales; 2·n·d FLOP for the norm, and 2 for each weight and stream.
/// - Dynamic weights with a constraint (mHC, eq. 7-9) add n·d weights for each logit, and 3 scales. The identity has 2.
///   mHC-lite adds a gain (n·d). A token takes 4·n² FLOP for each Sinkhorn iteration, or 2·n!·n² for a sum of
///   permutations.
/// - The exit's learned head has n logits from all n·d features, with their biases and a scale.
/// Dynamic weights keep the logits of a token, their activations and the weights, and n lengths of the streams.
NodeCost stepCost(const MultiStream& wiring, const DepthStep& step, std::int64_t modules, double d)
{
    const StreamSizes sizes = streamSizes(wiring, static_cast<std::int64_t>(d));
    const double n = real(wiring.streams);
    const double w = real(sizes.width);
    const double all = n * w;
    if (step.kind != DepthStepKind::Mix) {
        return {};
    }
    if (step.module > modules) {
        const bool hasHead = wiring.exit == StreamExit::Head;
        return hasHead ? NodeCost{countOf(n * all + n + 1), 4 * all + 2 * n * all, all + 4 * n} : NodeCost{};
    }
    NodeCost cost =
        mixing(real(static_cast<std::int64_t>(step.inputs.size())), real(static_cast<std::int64_t>(step.outputs)), w);
    const bool mixes = wiring.constraint != StreamConstraint::Identity;
    if (step.row % 2 == 1) { // the write; the read has the weights' parameters
        cost.flops -= 2 * w * ((mixes ? 0 : n * n) + n * (real(sizes.reads) - 1));
        return cost;
    }
    cost.parameters = wiring.streams * (sizes.reads + 1) + sizes.carry;
    if (wiring.weights != StreamWeights::Dynamic) {
        return cost;
    }
    const double logits = real(sizes.logits);
    cost += {0, 2 * all + 2 * all * logits, n};
    if (wiring.constraint == StreamConstraint::None) {
        const double norms = wiring.state == StreamState::Fractions ? 2 * w : w;
        cost += {countOf(norms + w * logits + 2), 0, 3 * n * logits};
        return cost;
    }
    const bool lite = wiring.constraint == StreamConstraint::Permutations;
    cost += {countOf(all * logits + (lite ? all : 0) + (mixes ? 3 : 2)), 0, 3 * logits + (lite ? n * n : 0)};
    cost.flops += lite ? 2 * real(sizes.carry) * n * n
                  : wiring.constraint == StreamConstraint::DoublyStochastic
                      ? 4 * n * n * real(wiring.sinkhornIterations)
                      : 0;
    return cost;
}

/// A join keeps its output and takes d FLOP for the residual sum. Highway adds a gate d → d with bias, and keeps the
/// gate and its operands. ReZero: one factor, which the modules of a layer share. LAuReL-RW: 2 factors. LAuReL-LR:
/// d·r + r·d. LAuReL-PA: the same, and a factor for each of the latest activations. With RW as well, the operand of the
/// residual's factor is also kept. Value residual: 2 factors from layer 2 on, over values d. Post-norm: a norm, which
/// keeps its input, with a gain and, for a layer norm, a bias.
NodeCost stepCost(const BranchGate& wiring, const DepthStep& step, std::int64_t /*modules*/, double d)
{
    const BranchGateKind kind = wiring.gate;
    const auto inputs = static_cast<std::int64_t>(step.inputs.size());
    if (step.kind == DepthStepKind::Run) {
        return kind == BranchGateKind::ValueResidual && step.module > 1 ? NodeCost{2, 3 * d, d} : NodeCost{};
    }
    if (step.kind == DepthStepKind::Mix) {
        NodeCost cost = mixing(real(inputs), 1, d);
        cost.parameters = inputs;
        return cost;
    }
    if (step.kind != DepthStepKind::Add && step.kind != DepthStepKind::Join) {
        return {};
    }
    NodeCost cost{0, d, d};
    switch (kind) {
    case BranchGateKind::Highway:
        cost += {countOf(d * d + d), 2 * d * d + 4 * d, 2 * d};
        break;
    case BranchGateKind::ReZero:
        cost += {step.module % modulesIn(wiring, 1) == 0 ? 1 : 0, d, 0};
        break;
    case BranchGateKind::PostNorm:
        cost += wiring.norm == NormKind::Layer ? NodeCost{countOf(2 * d), 7 * d, d} : NodeCost{countOf(d), 4 * d, d};
        break;
    case BranchGateKind::LaurelRw:
    case BranchGateKind::LaurelLr:
    case BranchGateKind::LaurelPa:
    case BranchGateKind::LaurelRwLr:
    case BranchGateKind::LaurelRwLrPa:
    case BranchGateKind::ValueResidual:
        break;
    }
    if (hasResidualWeights(kind)) {
        cost += {2, 2 * d, hasLowRankMaps(kind) ? d : 0};
    }
    if (hasLowRankMaps(kind)) {
        const double maps = 2 * d * real(wiring.rank);
        cost += {countOf(maps), 2 * maps + d, real(wiring.rank)};
    }
    return cost;
}

/// A reader projects the concatenation of n entries to d: n·d² parameters.
NodeCost stepCost(const Concatenation& /*wiring*/, const DepthStep& step, std::int64_t /*modules*/, double d)
{
    const double weights = real(static_cast<std::int64_t>(step.inputs.size())) * d * d;
    return step.kind == DepthStepKind::Join ? NodeCost{countOf(weights), 2 * weights, d} : NodeCost{};
}

} // namespace

NodeCost& operator+=(NodeCost& a, const NodeCost& b)
{
    a.parameters = countOf(real(a.parameters) + real(b.parameters));
    a.flops += b.flops;
    a.activationElements += b.activationElements;
    return a;
}

NodeCost& operator-=(NodeCost& a, const NodeCost& b)
{
    a.parameters -= b.parameters;
    a.flops -= b.flops;
    a.activationElements -= b.activationElements;
    return a;
}

ReaderSize sizeOf(const DepthMix& mix, const DepthReader& reader)
{
    ReaderSize size{static_cast<std::int64_t>(reader.sources.size()), 0};
    for (auto state = mix.states.lower_bound({0, reader.target});
         state != mix.states.end() && state->first.target == reader.target; ++state) {
        size.learned += state->second == ShortcutState::Learned && reader.readsAlone(state->first.source) ? 1 : 0;
    }
    return size;
}

/// A gate: w of d numbers for each mix or, with one for each entry, n·O of them; its logits 2·n·d·O FLOP and one
/// addition per weight n·d·O. Depth attention: a query and a norm weight, 2·d·O; norms 4·n·d FLOP and logits 2·n·d·O.
/// Per token (MUDD): h hidden features, kept before and after GELU; d·h + h·n·O weights and n·O biases. Weights that
/// depend on the token are kept. Learned shortcuts beside the running sum keep their operands.
NodeCost readerCost(const DepthMix& mix, const ReaderSize& size, int outputs, bool isFinal, std::int64_t width)
{
    const double n = real(size.entries);
    const double learned = real(size.learned);
    const double o = outputs;
    const double d = real(width);
    if (isRunningSum(mix)) {
        return {size.learned, 2 * learned * d, learned > 0 ? (learned + 1) * d : 0};
    }
    NodeCost cost = n > 0 || mix.feeds == MixFeeds::ResidualBesideBranch ? mixing(n, o, d) : NodeCost{};
    if (mix.gate.kind != GateKind::None) {
        const double vectors = mix.gate.vectors == GateVectors::PerEntry ? n * o : o;
        cost += {countOf(d * vectors), 3 * n * d * o, n * o};
    }
    const double h = real(perTokenHidden(mix, size.entries * outputs, isFinal));
    switch (mix.weight) {
    case WeightKind::Fixed:
        cost += {countOf(learned * o), 0, 0};
        break;
    case WeightKind::Scalar:
        cost += {countOf(n * o), 0, 0};
        break;
    case WeightKind::PerFeature:
        cost += {countOf(n * d * o), 0, 0};
        break;
    case WeightKind::DepthAttention:
        cost += {countOf(2 * d * o), 4 * n * d + 2 * n * d * o, n * o};
        break;
    case WeightKind::PerToken:
        cost += {countOf(d * h + h * n * o + n * o), 2 * (d * h + h * n * o), 2 * h + n * o};
        break;
    }
    return cost;
}

NodeCost topologyCost(const Topology& topology, std::int64_t depth, std::int64_t width)
{
    const std::int64_t modules = modulesIn(topology.wiring, depth);
    NodeCost total;
    visitSteps(topology.wiring, depth, [&](const DepthStep& step) {
        total += std::visit([&](const auto& wiring) { return stepCost(wiring, step, modules, real(width)); },
                            topology.wiring);
    });
    if (const auto* const mix = std::get_if<DepthMix>(&topology.wiring)) {
        for (std::int64_t target = 1; target <= lastReader(*mix, modules); ++target) {
            const DepthReader reader = readerOf(*mix, target, modules);
            total += {readerCost(*mix, sizeOf(*mix, reader), reader.outputs, target > modules, width).parameters, 0, 0};
        }
    }
    return total;
}

bool roundsBranches(const Topology& topology)
{
    return std::holds_alternative<Concatenation>(topology.wiring);
}

bool keepsBranches(const Topology& topology)
{
    if (const auto* const mix = std::get_if<DepthMix>(&topology.wiring)) {
        return mix->entry == StackEntry::Branch && !isRunningSum(*mix);
    }
    if (const auto* const gate = std::get_if<BranchGate>(&topology.wiring)) {
        return gate->gate == BranchGateKind::ReZero || hasResidualWeights(gate->gate);
    }
    return true;
}

} // namespace residua::projects
