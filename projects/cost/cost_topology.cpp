// SPDX-License-Identifier: GPL-3.0-or-later
// d: width, L: layers, n: entries that a reader mixes, O: its number of mixes (1, or 3 for q k v, 4 with the residual;
// 1 for the final output). FLOP are per token. Branches that are stored as stack entries are counted with their blocks.
#include "projects/cost/cost_topology.h"

#include "projects/base/real.h"
#include "projects/depth/depth_plan.h"
#include "projects/depth/stream_start.h"
#include "projects/nodes/node_kind_rules.h"

#include <algorithm>

namespace residua::projects {
namespace {

/// Fixed: one for each learned shortcut and mix. Scalar: n·O. Per feature: n·d·O. Depth attention: a query and a norm
/// weight, 2·d·O. Per token (MUDD): h hidden features, d·h + h·n·O weights and n·O biases. A gate adds w: d·O, or n·d·O
/// with one for each entry.
double readerParameters(const DepthMix& mix, double n, double learned, double o, double d, double h)
{
    const double vectors = mix.gate.vectors == GateVectors::PerEntry ? n * o : o;
    const double gate = mix.gate.kind == GateKind::None ? 0 : d * vectors;
    switch (mix.weight) {
    case WeightKind::Fixed:
        return gate + learned * o;
    case WeightKind::Scalar:
        return gate + n * o;
    case WeightKind::PerFeature:
        return gate + n * d * o;
    case WeightKind::DepthAttention:
        return gate + 2 * d * o;
    case WeightKind::PerToken:
        return gate + d * h + h * n * o + n * o;
    }
    return gate;
}

/// Mixing: 2·n·d·O. A gate: its logits 2·n·d·O and one addition per weight n·d·O. Depth attention: norms 4·n·d and
/// logits 2·n·d·O. Per token: twice its weights. Full outputs: adding mix and branch, d.
double readerFlops(const DepthMix& mix, double n, double o, double d, double h, bool isFinal)
{
    double flops = 2 * n * d * o;
    if (mix.entry == StackEntry::Full && mix.feeds == MixFeeds::LayerInput && !isFinal) {
        flops += d;
    }
    if (mix.gate.kind != GateKind::None) {
        flops += 3 * n * d * o;
    }
    if (mix.weight == WeightKind::DepthAttention) {
        flops += 4 * n * d + 2 * n * d * o;
    }
    if (mix.weight == WeightKind::PerToken) {
        flops += 2 * (d * h + h * n * o);
    }
    return flops;
}

/// Elements kept by a reader: the mixes O·d (beside a branch: the sum x_j, d, or only the branch if no mix is added),
/// x_j itself if full outputs are stacked, and n·O for weights that depend on the token; for per-token weights also the
/// hidden features.
double readerActivations(const DepthMix& mix, double n, double o, double d, double h, bool isFinal)
{
    double elements = n > 0 || mix.feeds == MixFeeds::ResidualBesideBranch ? d * o : 0;
    if (mix.entry == StackEntry::Full && mix.feeds == MixFeeds::LayerInput && !isFinal) {
        elements += d;
    }
    if (mix.gate.kind != GateKind::None || mix.weight == WeightKind::DepthAttention) {
        elements += n * o;
    }
    return mix.weight == WeightKind::PerToken ? elements + 2 * h + n * o : elements; // h before and after GELU
}

NodeCost depthMixCost(const DepthMix& mix, std::int64_t depth, std::int64_t width)
{
    const std::int64_t modules = mixedModules(mix, depth);
    NodeCost total;
    for (std::int64_t target = 1; target <= lastReader(mix, modules); ++target) {
        const DepthReader reader = readerOf(mix, target, modules);
        total += readerCost(mix, reader, sizeOf(mix, reader), modules, width);
        if (reader.middle) {
            total += NodeCost{0, real(width), real(width)};
        }
    }
    return total;
}

/// Returns the cost of one module with n streams of w features. R mixes of them make its input (StreamSizes). Copies
/// have w = d and R = 1, fractions w = d/n and R = n. The mixing matrix has c numbers.
/// - Static weights: n·R + n + c parameters; 2·w·(n·R + n² + n) FLOP, less 2·w·n² for the identity.
/// - Dynamic weights without a constraint (Hyper-Connections, eq. 10-13) add a gain (w; fractions also a bias w),
///   w weights for each of R + n + 1 logits, and 2 scales; 2·n·d FLOP for the norm, and 2 for each weight and stream.
/// - Dynamic weights with a constraint (mHC, eq. 7-9) add n·d weights for each of c + 2n logits, and 3 scales. The
///   identity has 2. mHC-lite adds a gain (n·d). A token takes 4·n² FLOP for each Sinkhorn iteration, or 2·n!·n² for
///   a sum of permutations.
/// Kept for the backward pass: the streams (n·w) and the layer's input (d); of dynamic weights the logits of a token,
/// their activations and the weights, and n lengths of the streams.
NodeCost streamModuleCost(const MultiStream& wiring, std::int64_t width)
{
    const StreamSizes sizes = streamSizes(wiring, width);
    const double n = real(wiring.streams);
    const double w = real(sizes.width);
    const double carry = real(sizes.carry);
    const double weighed = n * real(sizes.reads) + n;
    const bool mixes = wiring.constraint != StreamConstraint::Identity;
    NodeCost cost{countOf(weighed + carry), 2 * w * (weighed + (mixes ? n * n : 0)), n * w + real(width)};
    if (wiring.weights != StreamWeights::Dynamic) {
        return cost;
    }
    const double logits = real(sizes.logits);
    const bool lite = wiring.constraint == StreamConstraint::Permutations;
    cost.activationElements += n;
    if (wiring.constraint == StreamConstraint::None) {
        const double norms = wiring.state == StreamState::Fractions ? 2 * w : w;
        cost += {countOf(norms + w * logits + 2), 2 * n * w + 2 * n * w * logits, 3 * n * logits};
        return cost;
    }
    cost +=
        {countOf(n * w * logits + (lite ? n * w : 0) + (mixes ? 3 : 2)), 2 * n * w + 2 * n * w * logits, 3 * logits};
    if (wiring.constraint == StreamConstraint::DoublyStochastic) {
        cost.flops += 4 * n * n * real(wiring.sinkhornIterations);
    } else if (lite) {
        cost += {0, 2 * carry * n * n, n * n};
    }
    return cost;
}

/// All modules, and the exit's learned head: n logits from all n·d features, with their biases and a scale.
NodeCost multiStreamCost(const MultiStream& wiring, std::int64_t depth, std::int64_t width)
{
    const NodeCost module = streamModuleCost(wiring, width);
    const double modules = real(modulesIn(wiring, depth));
    NodeCost cost{countOf(modules * real(module.parameters)), modules * module.flops,
                  modules * module.activationElements};
    if (wiring.exit == StreamExit::Head && wiring.state == StreamState::Copies) {
        const double n = real(wiring.streams);
        const double all = n * real(width);
        cost += {countOf(n * all + n + 1), 2 * all + 2 * n * all + 2 * all, all + 4 * n};
    }
    return cost;
}

/// Per module. Highway: a gate d → d with bias; keeps the gate and its operands. ReZero: one factor, which the modules
/// of a layer share. LAuReL-RW: 2 factors. LAuReL-LR: d·r + r·d. LAuReL-PA: the same, and in layer l one factor for
/// each of the latest min(window, l) activations; keeps their mix. With RW as well, the operand of the residual's
/// factor is also kept. Value residual: 2 factors from layer 2 on, over values d. Post-norm: a norm, which keeps its
/// input, with a gain and, for a layer norm, a bias. The residual sum itself: d FLOP and d kept.
NodeCost branchGateCost(const BranchGate& wiring, std::int64_t depth, std::int64_t width)
{
    const double d = real(width);
    const double lowRank = 2 * d * real(wiring.rank);
    NodeCost layer{0, d, d};
    switch (wiring.gate) {
    case BranchGateKind::Highway:
        layer += {countOf(d * d + d), 2 * d * d + 4 * d, 2 * d};
        break;
    case BranchGateKind::ReZero:
        layer += {0, d, 0}; // its factors are added below
        break;
    case BranchGateKind::LaurelRw:
        layer += {2, 2 * d, 0};
        break;
    case BranchGateKind::LaurelRwLr:
        layer += {2, 2 * d, d};
        [[fallthrough]];
    case BranchGateKind::LaurelLr:
        layer += {countOf(lowRank), 2 * lowRank + d, real(wiring.rank)};
        break;
    case BranchGateKind::LaurelRwLrPa:
        layer += {2, 2 * d, d};
        [[fallthrough]];
    case BranchGateKind::LaurelPa:
        layer += {countOf(lowRank), 2 * lowRank + d, d + real(wiring.rank)};
        break;
    case BranchGateKind::PostNorm:
        layer += wiring.norm == NormKind::Layer ? NodeCost{2 * width, 7 * d, d} : NodeCost{width, 4 * d, d};
        break;
    case BranchGateKind::ValueResidual:
        break;
    }
    const double layers = real(modulesIn(wiring, depth));
    NodeCost total{countOf(layers * real(layer.parameters)), layers * layer.flops, layers * layer.activationElements};
    if (wiring.gate == BranchGateKind::ReZero) {
        total.parameters += depth;
    }
    if (mixesPrevious(wiring.gate)) {
        // Layers 1..w read 1..w activations, later layers w.
        const double w = std::min(real(wiring.window), layers);
        const double read = w * (w + 1) / 2 + (layers - w) * w;
        total += {countOf(read), 2 * read * d, 0};
    } else if (wiring.gate == BranchGateKind::ValueResidual && depth > 1) {
        total += {2 * (depth - 1), 3 * d * (layers - 1), d * (layers - 1)};
    }
    return total;
}

/// Reader j, and the final output as reader L + 1, projects the concatenation of j entries to d: j·d² parameters.
NodeCost concatenationCost(std::int64_t depth, std::int64_t width)
{
    const double readers = real(depth + 1);
    const double weights = readers * (readers + 1) / 2 * real(width) * real(width);
    return {countOf(weights), 2 * weights, readers * real(width)};
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

NodeCost readerCost(const DepthMix& mix, const DepthReader& reader, const ReaderSize& size, std::int64_t depth,
                    std::int64_t width)
{
    const bool isFinal = reader.target > depth;
    const double n = real(size.entries);
    const double learned = real(size.learned);
    const double o = real(reader.outputs);
    const double d = real(width);
    if (isRunningSum(mix)) {
        // Layer 1 reads the input unchanged. Learned shortcuts keep their operands and the sum.
        const NodeCost sum = reader.target == 1 ? NodeCost{} : NodeCost{0, d, d};
        const NodeCost beside{size.learned, 2 * learned * d, learned > 0 ? (learned + 1) * d : 0};
        return {sum.parameters + beside.parameters, sum.flops + beside.flops,
                sum.activationElements + beside.activationElements};
    }
    const double h = real(perTokenHidden(mix, size.entries * reader.outputs, isFinal));
    NodeCost cost{countOf(readerParameters(mix, n, learned, o, d, h)), readerFlops(mix, n, o, d, h, isFinal),
                  readerActivations(mix, n, o, d, h, isFinal)};
    const bool adds = mix.feeds == MixFeeds::ResidualBesideBranch && reader.passes;
    if (adds || (hasTwoFamilies(mix) && reader.target > 1)) {
        cost.flops += d; // the newest entry, or the branch of the module before
    }
    return cost;
}

NodeCost topologyCost(const Topology& topology, std::int64_t depth, std::int64_t width)
{
    if (const auto* const mix = std::get_if<DepthMix>(&topology.wiring)) {
        return depthMixCost(*mix, depth, width);
    }
    if (const auto* const streams = std::get_if<MultiStream>(&topology.wiring)) {
        return multiStreamCost(*streams, depth, width);
    }
    if (const auto* const gate = std::get_if<BranchGate>(&topology.wiring)) {
        return branchGateCost(*gate, depth, width);
    }
    return concatenationCost(depth, width);
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
