// SPDX-License-Identifier: GPL-3.0-or-later
// The costs of the steps of a DepthProgram. d: width, n: inputs of a step, O: its outputs. FLOP are per token. Branches
// that are stored as stack entries are counted with their blocks.
#include "projects/cost/cost_topology.h"

#include "projects/base/real.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/depth_parameters.h"
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

/// Returns the cost of the O mixes of n entries without their parameters. A gate takes 2·n·d·O FLOP for its logits and
/// one addition per weight n·d·O, depth attention 4·n·d for its norms and 2·n·d·O for its logits. Per token (MUDD), h
/// hidden features are kept before and after GELU. Weights that depend on the token are kept. Learned shortcuts beside
/// the running sum keep their operands.
NodeCost mixCost(const DepthMix& mix, std::int64_t entries, std::int64_t outputs, bool isFinal, double d)
{
    const double n = real(entries);
    const double o = real(outputs);
    if (isRunningSum(mix)) {
        return {0, 2 * n * d, n > 0 ? (n + 1) * d : 0};
    }
    NodeCost cost = n > 0 || mix.feeds == MixFeeds::ResidualBesideBranch ? mixing(n, o, d) : NodeCost{};
    if (mix.gate.kind != GateKind::None) {
        cost += {0, 3 * n * d * o, n * o};
    }
    switch (mix.weight) {
    case WeightKind::DepthAttention:
        return cost += {0, 4 * n * d + 2 * n * d * o, n * o};
    case WeightKind::PerToken: {
        const double h = real(perTokenHidden(mix, entries * outputs, isFinal));
        return cost += {0, 2 * (d * h + h * n * o), 2 * h + n * o};
    }
    case WeightKind::Fixed:
    case WeightKind::Scalar:
    case WeightKind::PerFeature:
        break;
    }
    return cost;
}

/// Return the cost of a step without its parameters.

/// The sum in a shared entry takes the place of the branch, and that of two families' branches is not kept.
NodeCost stepCost(const DepthMix& mix, const DepthStep& step, std::int64_t modules, double d)
{
    if (step.kind == DepthStepKind::Add) {
        return {0, d, mix.blockLayers > 1 && !isRunningSum(mix) ? 0 : d};
    }
    if (step.kind != DepthStepKind::Mix) {
        return {};
    }
    NodeCost cost = mixCost(mix, static_cast<std::int64_t>(step.inputs.size()), static_cast<std::int64_t>(step.outputs),
                            step.module > modules, d);
    if (step.base && step.module > 1 && hasTwoFamilies(mix)) {
        cost.activationElements -= d;
    }
    return cost;
}

/// Returns what the dynamic weights of a module keep of a token: the logits, the scales of the norms (with a layer norm
/// the means too), the input of the constraint, the write's activation, and its weights.
double keptBy(const MultiStream& wiring, const StreamSizes& sizes)
{
    const double n = real(wiring.streams);
    const double logits = real(sizes.logits);
    const double weights = n * (n + real(sizes.reads));
    if (wiring.constraint == StreamConstraint::None) {
        const double norms = wiring.norm == NormKind::Layer ? 2 : 1;
        return n * (logits + norms + n + 1) + weights;
    }
    return logits + 1 + real(sizes.carry) + n + weights;
}

/// Streams have w features: d, or d/n of fractions. Products with weights that are always 0 or 1 are not counted.
/// Dynamic weights take 2·n·d FLOP for the norm, and 2 for each of n·d features and logit. With a constraint, a token
/// takes 4·n² FLOP for each Sinkhorn iteration, or 2·n!·n² for a sum of permutations.
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
        return hasHead ? NodeCost{0, 4 * all + 2 * n * all, n + 1} : NodeCost{};
    }
    NodeCost cost =
        mixing(real(static_cast<std::int64_t>(step.inputs.size())), real(static_cast<std::int64_t>(step.outputs)), w);
    const bool mixes = wiring.constraint != StreamConstraint::Identity;
    if (step.row % 2 == 1) { // the write; the read has the cost of computing the weights
        cost.flops -= 2 * w * ((mixes ? 0 : n * n) + n * (real(sizes.reads) - 1));
        return cost;
    }
    if (wiring.weights != StreamWeights::Dynamic) {
        return cost;
    }
    cost += {0, 2 * all + 2 * all * real(sizes.logits), keptBy(wiring, sizes)};
    if (wiring.constraint == StreamConstraint::Permutations) {
        cost.flops += 2 * real(sizes.carry) * n * n;
    } else if (wiring.constraint == StreamConstraint::DoublyStochastic) {
        cost.flops += 4 * n * n * real(wiring.sinkhornIterations);
    }
    return cost;
}

/// A join keeps its output and takes d FLOP for the residual sum. Highway adds a gate d → d, and keeps the gate and its
/// operands. LAuReL-LR and -PA add products with d·r + r·d weights. With RW as well, the operand of the residual's
/// factor is also kept. A post-norm keeps its input. An RMS norm takes 3·d FLOP less than a layer norm.
NodeCost stepCost(const BranchGate& wiring, const DepthStep& step, std::int64_t /*modules*/, double d)
{
    const GateTraits traits = traitsOf(wiring.gate);
    const auto inputs = static_cast<std::int64_t>(step.inputs.size());
    if (step.kind == DepthStepKind::Run) {
        return wiring.gate == BranchGateKind::ValueResidual && step.module > 1 ? NodeCost{0, 3 * d, d} : NodeCost{};
    }
    if (step.kind == DepthStepKind::Mix) {
        return mixing(real(inputs), 1, d);
    }
    if (step.kind != DepthStepKind::Add && step.kind != DepthStepKind::Join) {
        return {};
    }
    const auto& [squares, widths, kept] = traits.cost;
    NodeCost cost{0, squares * d * d + (1 + widths + traits.factors) * d, (1 + kept) * d};
    if (wiring.gate == BranchGateKind::PostNorm && wiring.norm == NormKind::Rms) {
        cost.flops -= 3 * d;
    }
    cost.flops += step.residual == 1 ? 0 : d;
    if (traits.maps != LaurelMaps::None) {
        cost += {0, 4 * d * real(wiring.rank) + d, real(wiring.rank) + (traits.factors == 2 ? d : 0)};
    }
    return cost;
}

/// A reader projects the concatenation of n entries to d.
NodeCost stepCost(const Concatenation& /*wiring*/, const DepthStep& step, std::int64_t /*modules*/, double d)
{
    const double weights = real(static_cast<std::int64_t>(step.inputs.size())) * d * d;
    return step.kind == DepthStepKind::Join ? NodeCost{0, 2 * weights, d} : NodeCost{};
}

/// A visit's begin keeps its input and, if linear, takes 4·d² FLOP; its end keeps the operands of gate and norm. An
/// exit gate takes 2·d.
NodeCost visitCost(const Loop& loop, const DepthStep& step, double d)
{
    if (step.kind == DepthStepKind::Visit) {
        const bool adds =
            loop.injection == LoopInjection::Add && (step.visit.visit > 1 || loop.start == LoopStart::Noise);
        const double sums = (adds ? 1 : 0) + (loop.embedding ? 1 : 0);
        return loop.injection == LoopInjection::Linear ? NodeCost{0, 4 * d * d + sums * d, (2 + sums) * d}
                                                       : NodeCost{0, sums * d, sums * d};
    }
    const bool norms =
        loop.norm == LoopNorm::Visits || (loop.norm != LoopNorm::None && step.visit.visit == evaluatedVisits(loop));
    const bool mayLeave = loop.exitGate && step.visit.visit < loop.visits;
    return {0, (loop.gate ? 3 : 0) * d + (norms ? 4 : 0) * d + (mayLeave ? 2 * d : 0),
            (loop.gate ? 2 : 0) * d + (norms ? d : 0)};
}

/// A read of n streams takes 2·n·d FLOP. A write takes 3·n·d for streams with a share of their own each, 2·n²·d + 2·n·d
/// for lanes, and keeps the streams and F. The exit sums. Gates norm the streams and project them to n or 2·n numbers.
NodeCost streamCost(const Loop& loop, const DepthStep& step, double d)
{
    const double n = real(loop.streamCount);
    const bool begins = step.kind == DepthStepKind::Visit;
    const bool leaves = !begins && step.visit.visit == evaluatedVisits(loop);
    NodeCost cost{0, (leaves ? n * d : 0), begins ? 0 : n * d + d};
    if (loop.streams == LoopStreams::Lanes) {
        cost.flops += begins ? 2 * n * d : 2 * n * n * d + 2 * n * d;
    } else if (loop.streams == LoopStreams::Gated) {
        cost.flops += 3 * n * d + (begins ? 2 * n * n * d + 2 * n * d : 4 * n * n * d + 3 * n * d);
        cost.activationElements += n * d;
    }
    return loop.streams == LoopStreams::None ? NodeCost{} : cost;
}

/// True if the step makes the input of the module after its own.
bool endsModule(const Wiring& wiring, const DepthStep& step)
{
    return step.kind == DepthStepKind::Add ||
           (step.kind == DepthStepKind::Join && std::holds_alternative<BranchGate>(wiring));
}

/// Returns the elements of a running sum, of a gate's output, or of a reader's mixes, that are kept for the reader
/// alone.
double keptForReader(const Wiring& wiring, const DepthStep& step, std::int64_t modules, double d)
{
    if (const auto* const gate = std::get_if<BranchGate>(&wiring)) {
        return endsModule(wiring, step) && (step.module == modules || !keepsResidual(gate->gate)) ? d : 0;
    }
    const auto* const mix = std::get_if<DepthMix>(&wiring);
    if (mix == nullptr) {
        return 0;
    }
    if (step.kind == DepthStepKind::Add) {
        return isRunningSum(*mix) ? d : 0;
    }
    const bool isStored = isRunningSum(*mix) || mix->entry == StackEntry::Full ||
                          mix->feeds == MixFeeds::ResidualBesideBranch ||
                          (step.base && step.module > 1 && hasTwoFamilies(*mix));
    return step.kind == DepthStepKind::Mix && !isStored && !step.inputs.empty() ? real(step.outputs) * d : 0;
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

NodeCost readerCost(const DepthMix& mix, const DepthReader& reader, std::int64_t modules, std::int64_t width)
{
    double parameters = 0;
    visitParameters(mix, reader, modules, width, [&](const WiringParameter& part) { parameters += part.elements(); });
    const std::int64_t entries =
        isRunningSum(mix) ? countOf(parameters) : static_cast<std::int64_t>(reader.sources.size());
    NodeCost cost = mixCost(mix, entries, reader.outputs, reader.target > modules, real(width));
    cost.parameters = countOf(parameters);
    return cost;
}

std::vector<VisitUse> usesOf(const Stack& stack)
{
    std::vector<VisitUse> uses;
    for (const LayerVisit& at : stack.loops.empty() ? std::vector<LayerVisit>() : executionOf(stack)) {
        const Loop* const loop = stack.loopOf(at.layer);
        const std::int64_t visits = loop == nullptr ? 1 : evaluatedVisits(*loop);
        const bool cuts = loop != nullptr && loop->gradientVisits > 0 && at.visit <= visits - loop->gradientVisits;
        uses.push_back(at.visit > visits ? VisitUse::Absent : cuts ? VisitUse::Forward : VisitUse::Whole);
    }
    return uses;
}

NodeCost topologyCost(const Stack& stack, const std::vector<bool>& keepsInput, const std::vector<double>& visitShares)
{
    const Wiring& wiring = stack.topology.wiring;
    const std::int64_t modules = modulesIn(wiring, stack.depth());
    const std::vector<VisitUse> uses = usesOf(stack);
    const double d = real(stack.width);
    const auto readerKeeps = [&](const DepthStep& step) {
        const std::int64_t module = step.module + (endsModule(wiring, step) ? 1 : 0);
        const std::int64_t layer = module > modules ? stack.depth() + 1 : layerOf(module, modulesIn(wiring, 1));
        return keepsInput.empty() || layer < 1 || keepsInput.at(static_cast<std::size_t>(layer - 1));
    };
    NodeCost total;
    visitSteps(stack, [&](const DepthStep& step) {
        const bool ofModule = step.module > 0 && step.module <= modules && !uses.empty();
        const auto layer = ofModule ? static_cast<std::size_t>(layerOf(step.module, modulesIn(wiring, 1))) - 1 : 0;
        const VisitUse use = ofModule ? uses[layer] : VisitUse::Whole;
        if (use == VisitUse::Absent) {
            return;
        }
        const bool ofLoop = step.kind == DepthStepKind::Visit || step.kind == DepthStepKind::Leave;
        NodeCost cost = ofLoop
                            ? visitCost(stack.loops[step.visit.loop], step, d)
                            : std::visit([&](const auto& value) { return stepCost(value, step, modules, d); }, wiring);
        cost += ofLoop ? streamCost(stack.loops[step.visit.loop], step, d) : NodeCost{};
        cost.activationElements -= ofLoop || readerKeeps(step) ? 0 : keptForReader(wiring, step, modules, d);
        if (ofLoop && !visitShares.empty()) {
            const std::int64_t first = layerOf(step.visit.firstModule, modulesIn(wiring, 1));
            const double share = visitShares.at(static_cast<std::size_t>(first - 1));
            cost.flops *= share;
            cost.activationElements *= share;
        }
        cost.activationElements = use == VisitUse::Forward ? 0 : cost.activationElements;
        total += cost;
    });
    const auto count = [&](const WiringParameter& part) { total += {countOf(part.elements()), 0, 0}; };
    visitParameters(stack, count);
    visitLoopParameters(stack, count);
    return total;
}

bool keepsResidual(BranchGateKind gate)
{
    const GateTraits traits = traitsOf(gate);
    return gate == BranchGateKind::Highway || traits.factors == 2 || traits.maps != LaurelMaps::None;
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
        return traitsOf(gate->gate).factors > 0;
    }
    return true;
}

} // namespace residua::projects
