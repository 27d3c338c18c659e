// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/cost/cost.h"

#include "projects/check/problems.h"
#include "projects/cost/cost_topology.h"
#include "projects/cost/kept_values.h"
#include "projects/depth/depth_parameters.h"
#include "projects/depth/depth_plan.h"
#include "projects/depth/visit_adapters.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/ffn_site.h"
#include "projects/nodes/node_kind_rules.h"
#include "projects/nodes/resolved_graph.h"
#include "projects/nodes/towers.h"
#include "projects/schedule/kept_parts.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace residua::projects {
namespace {

/// The factors that convert a node's figures for one token to bytes and FLOP of a step.
struct Scale {
    double tokens = 1;          ///< tokens or samples in a micro-batch
    double weightBytes = 4;     ///< per parameter; bf16 keeps parameters in fp32
    double activationBytes = 4; ///< per element
    double residualBytes = 4;   ///< per element of the residual
    double positions = 1;       ///< positions of a stack entry per token or sample
    double copyBytes = 0;       ///< per parameter of a matrix: its rounded copy
    double stateShare = 1;      ///< of the optimiser's states, on one rank
    double ring = 0;            ///< times that a rank sends a number, for its sum over the ranks
    double valueBytes = 0;      ///< sent per parameter after the update, if the states are divided
    double copySaves = 0;       ///< of these, if only the rounded copy is sent
};

/// Sets the bytes that one of `ranks` processes sends.
void setSent(Scale& scale, const Project& project, std::int64_t ranks)
{
    const TrainingPlan& plan = project.training;
    const double others = real(ranks - 1) / real(ranks);
    scale.ring = 2 * others;
    if (plan.rankStates == RankStates::Divided) {
        bool sendsCopies = scale.copyBytes > 0 && plan.weightAverage == 0;
        for (std::size_t index = 0; index < towerCount(project); ++index) {
            sendsCopies = sendsCopies && !grows(towerAt(project, index).stack().schedule);
        }
        scale.valueBytes = others * scale.weightBytes;
        scale.copySaves = sendsCopies ? others * (scale.weightBytes - scale.copyBytes) : 0;
    }
}

Scale scaleOf(const Project& project, std::int64_t ranks = 1)
{
    const TrainingPlan& plan = project.training;
    Scale scale;
    // The data of a sound network may still have invalid numbers.
    scale.tokens = std::max(unitsPerBatch(project.data, plan), 0.0) / real(ranks);
    scale.stateShare = plan.rankStates == RankStates::Divided ? 1 / real(ranks) : 1;
    const std::int64_t context = examplesOf(project).units(1, plan.sequenceLength);
    scale.positions = elementsOf(stackShapeOf(project), context) / real(project.stack().width);
    scale.weightBytes = plan.precision == Precision::Fp64 ? 8 : 4;
    scale.activationBytes = roundsToBf16(plan.precision) ? 2 : scale.weightBytes;
    scale.copyBytes = roundsToBf16(plan.precision) ? scale.activationBytes : 0;
    scale.residualBytes =
        carriedPrecision(project) == ResidualPrecision::Bf16 ? scale.activationBytes : scale.weightBytes;
    setSent(scale, project, ranks);
    return scale;
}

/// Returns the number of elements of a parameter's gradient, of its running mean, and of a rank's share of its
/// optimiser states.
double optimiserElements(const TrainingPlan& plan, const TrainedParameter& parameter, double stateShare)
{
    const double gradient = std::accumulate(parameter.shape.begin(), parameter.shape.end(), 1.0, std::multiplies<>());
    const double mean = plan.weightAverage > 0 ? gradient : 0;
    return gradient + mean +
           stateShare * stateElements(ruleOf(plan.optimiser, plan.groups, parameter).algorithm, parameter);
}

/// Returns the same for the parameters of the topology.
double topologyElements(const Project& project, double stateShare)
{
    double elements = 0;
    for (const WiringParameter& parameter : parametersOf(project.stack())) {
        elements += optimiserElements(project.training, parameter, stateShare);
    }
    return elements;
}

/// Training costs three times the forward pass, because the backward pass of a matrix product is two products of the
/// same size. `elementBytes` is the size of a kept element, `optimised` the number of optimiserElements().
Cost scaled(const NodeCost& node, const Scale& scale, double elementBytes, double optimised)
{
    const auto parameters = static_cast<double>(node.parameters);
    Cost cost;
    cost.parameters = node.parameters;
    cost.forwardFlops = node.flops;
    cost.trainFlops = 3 * node.flops;
    cost.activationBytes = node.activationElements * scale.tokens * elementBytes;
    cost.weightBytes = parameters * scale.weightBytes;
    cost.optimiserBytes = optimised * scale.weightBytes;
    cost.gradientsSent = parameters * (scale.ring * scale.weightBytes + scale.valueBytes);
    return cost;
}

/// Returns the cost of mixing, given for one position of a stack entry. Its parameters count as one vector.
Cost ofTopology(NodeCost node, const Project& project, const Scale& scale)
{
    node.flops *= scale.positions;
    node.activationElements *= scale.positions;
    const TrainedParameter vector{
        .name = kTopologyCoefficient, .shape = {node.parameters}, .is = ParameterClass::Vector};
    return scaled(node, scale, scale.residualBytes, optimiserElements(project.training, vector, scale.stateShare));
}

/// Computes the costs of the nodes of a project's graphs, which are all sound.
class Costing {
public:
    Costing(const Project& project, DeviceKind device, std::int64_t ranks)
        : m_project(project),
          m_device(device),
          m_scale(scaleOf(m_project, ranks)),
          m_kept(m_project, m_scale.residualBytes, m_scale.activationBytes),
          m_tied(tiedNodes(m_project.network)),
          m_context(examplesOf(m_project).units(1, m_project.training.sequenceLength))
    {
    }

    /// Returns the costs of the nodes of graphs as they run: a whole block, or its two halves. Their parameters' names
    /// begin with `prefix`.
    std::map<NodeId, Cost> nodes(const GraphRef& ref, const std::vector<Graph>& graphs, const std::string& prefix) const
    {
        std::map<NodeId, Cost> costs;
        for (const Graph& graph : graphs) {
            costs.merge(nodes(ref, graph, prefix));
        }
        return costs;
    }

    /// Returns the bytes of gradients and optimiser states of the graphs' own parameters.
    double optimiserBytes(const GraphRef& ref, const std::vector<Graph>& graphs, const std::string& prefix) const
    {
        double elements = 0;
        for (const Graph& graph : graphs) {
            for (const ResolvedNode& node : resolveGraph(m_project, ref, graph).nodes) {
                elements += optimised(node, prefix + graph.find(node.id)->name, false);
            }
        }
        return elements * m_scale.weightBytes;
    }

    /// Returns the cost of products of this rank that a visit adds to the weights of a layer.
    Cost adapters(const GraphRef& ref, const std::vector<Graph>& graphs, const std::string& prefix,
                  std::int64_t rank) const
    {
        Cost sum;
        for (const Graph& graph : graphs) {
            for (const ResolvedNode& node : resolveGraph(m_project, ref, graph).nodes) {
                for (const NodeParameter& weight : rankedWeightsOf(node)) {
                    if (isAdapted(weight.shape)) {
                        sum += adapter(node, weight, prefix + graph.find(node.id)->name + "." + weight.name, rank);
                    }
                }
            }
        }
        return sum;
    }

    std::map<NodeId, Cost> nodes(const GraphRef& ref, const Graph& graph, const std::string& prefix) const
    {
        const ResolvedGraph resolved = resolveGraph(m_project, ref, graph);
        const std::map<NodeId, double> kept = m_kept.outputs(ref, resolved);
        std::map<NodeId, Cost> costs;
        for (const ResolvedNode& node : resolved.nodes) {
            NodeCost cost = projects::costOf(*node.kind, node.params, node.in, node.out, m_context);
            const double copies = node.kind->traits.multiplies ? real(cost.parameters) * m_scale.copyBytes : 0;
            const bool isTied = ref.isHead() && m_tied && m_tied->linear == node.id;
            if (isTied) {
                // Counted once, in the stem's embedding.
                cost.parameters -=
                    countOf(static_cast<double>(node.in[0].features()) * static_cast<double>(node.out[0].features()));
            }
            const double output = node.out.empty() ? 0 : elementsOf(node.out[0], m_context);
            if (traitsOf(*node.kind, node.params).keptForReaders && !kept.contains(node.id)) {
                cost.activationElements -= output;
            }
            const double held = optimised(node, prefix + graph.find(node.id)->name, isTied);
            Cost& scaledCost =
                costs.emplace(node.id, scaled(cost, m_scale, m_scale.activationBytes, held)).first->second;
            if (const auto bytes = kept.find(node.id); bytes != kept.end() && cost.activationElements > 0) {
                scaledCost.activationBytes += output * m_scale.tokens * (bytes->second - m_scale.activationBytes);
            }
            scaledCost.weightBytes += copies;
            if (node.kind->traits.multiplies) {
                scaledCost.gradientsSent -= real(cost.parameters) * m_scale.copySaves;
            }
            addMoments(ref, node, scaledCost);
        }
        return costs;
    }

    const Scale& scale() const { return m_scale; }
    const KeptValues& kept() const { return m_kept; }

    /// Returns the peak memory of the loss, in the weights' type. On the CPU, the backward pass holds the log-softmax
    /// and two gradients; the kept logits are freed by then. On a GPU, the loss is computed in parts and the gradient
    /// overwrites the logits. A part has its log-softmax, and a copy in the loss's type if that differs.
    double lossBytes() const
    {
        const double bytes = logitBytes();
        if (m_project.network.ownLoss == OwnLoss::None || bytes == 0) {
            return 0;
        }
        const std::int64_t vocabulary = resolveGraph(m_project, GraphRef::head()).outputPorts.front().shape.features();
        const double tokens = bytes / real(vocabulary) / m_scale.weightBytes;
        if (m_device == DeviceKind::Cpu) {
            return tokens * real(vocabulary) * (3 * m_scale.weightBytes - m_scale.activationBytes);
        }
        const bool copies = m_scale.weightBytes != m_scale.activationBytes;
        const double rows = std::min(tokens, real(lossRows(vocabulary, m_scale.weightBytes)));
        return rows * real(vocabulary) * m_scale.weightBytes * (copies ? 2 : 1);
    }

    /// Returns the bytes of the outputs of a micro-batch in the weights' type, if the target is a token; else 0.
    double logitBytes() const
    {
        if (traitsOf(m_project.network.objective).target != Element::Token) {
            return 0;
        }
        const Shape logits = resolveGraph(m_project, GraphRef::head()).outputPorts.front().shape;
        return m_scale.tokens * elementsOf(logits, m_context) * m_scale.weightBytes;
    }

private:
    /// Returns optimiserElements() of the node `name`. A tied node's weight counts where it is declared.
    double optimised(const ResolvedNode& node, const std::string& name, bool isTied) const
    {
        double elements = 0;
        for (NodeParameter& parameter : parametersOf(*node.kind, node.params, node.in)) {
            if (!isTied || parameter.is == ParameterClass::Vector) {
                elements += optimiserElements(
                    m_project.training,
                    {.name = name + "." + parameter.name, .shape = std::move(parameter.shape), .is = parameter.is},
                    m_scale.stateShare);
            }
        }
        return elements;
    }

    /// Adds what ranks exchange of a batch norm: its running moments after each step, and its sums over the
    /// micro-batch, two vectors each in the forward and the backward pass.
    void addMoments(const GraphRef& ref, const ResolvedNode& node, Cost& cost) const
    {
        if (!node.kind->traits.mixesExamples) {
            return;
        }
        const TrainingPlan& plan = m_project.training;
        const double vectors = 2 * m_scale.ring * m_scale.weightBytes * real(node.in[0].features());
        cost.gradientsSent += vectors;
        if (paramText(node.params, kMomentsParam) == kMomentsOfBatch) {
            const bool isRepeated = ref.isBlock() && plan.activations == Activations::Recompute;
            cost.momentsSent += vectors * (isRepeated ? 3 : 2) * real(plan.accumulate);
        }
    }

    /// Returns the cost of a product of this rank that a visit adds to a weight of the node.
    Cost adapter(const ResolvedNode& node, const NodeParameter& weight, const std::string& name,
                 std::int64_t rank) const
    {
        const double positions = elementsOf(node.in[0], m_context) / real(node.in[0].features());
        const std::int64_t count = rank * (weight.out() + weight.in());
        double held = 0;
        for (const auto& shape : {std::vector{weight.out(), rank}, std::vector{rank, weight.in()}}) {
            held += optimiserElements(m_project.training, {.name = name, .shape = shape, .is = ParameterClass::Matrix},
                                      m_scale.stateShare);
        }
        Cost cost = scaled({count, 2 * real(count) * positions, real(rank) * positions}, m_scale,
                           m_scale.activationBytes, held);
        cost.weightBytes += real(count) * m_scale.copyBytes;
        cost.gradientsSent -= real(count) * m_scale.copySaves;
        return cost;
    }

    const Project& m_project;
    DeviceKind m_device;
    Scale m_scale;
    KeptValues m_kept;
    std::optional<TiedNodes> m_tied;
    std::int64_t m_context = 1;
};

/// Returns the number, from 1, of the layer that is costed next.
std::int64_t nextLayer(const CostReport& report)
{
    return static_cast<std::int64_t>(report.layers.size()) + 1;
}

/// Returns the costs of the executed layers (VisitUse). Parameters, gradients and states count at the first visit of a
/// stored layer.
std::vector<Cost> executed(const Stack& stack, std::vector<Cost> stored)
{
    if (stack.loops.empty()) {
        return stored;
    }
    std::vector<Cost> layers;
    const std::vector<VisitUse> uses = usesOf(stack);
    for (const LayerVisit& at : executionOf(stack)) {
        const VisitUse use = uses[layers.size()];
        Cost& layer = layers.emplace_back(stored[static_cast<std::size_t>(at.layer - 1)]);
        if (at.visit > 1) {
            layer.parameters = 0;
            layer.weightBytes = 0;
            layer.optimiserBytes = 0;
            layer.gradientsSent = 0;
        }
        layer.momentsSent *= use == VisitUse::Absent ? 0 : use == VisitUse::Forward ? 0.5 : 1;
        layer.forwardFlops = use == VisitUse::Absent ? 0 : layer.forwardFlops;
        layer.trainFlops = use == VisitUse::Whole ? layer.trainFlops : layer.forwardFlops;
        layer.activationBytes = use == VisitUse::Whole ? layer.activationBytes : 0;
    }
    return layers;
}

/// Adds to the costs of the executed layers what their visits add to the matrices. Returns the largest activations that
/// recomputation makes again for that.
double addAdapters(const Project& project, const Costing& costing,
                   const std::map<std::string, std::vector<Graph>>& graphs, std::vector<Cost>& layers)
{
    double recomputed = 0;
    const std::vector<LayerVisit> execution = executionOf(project.stack());
    for (std::size_t i = 0; i < execution.size(); ++i) {
        const auto [layer, visit] = execution[i];
        const std::int64_t rank = adaptersAt(project.stack(), execution[i]).rank;
        if (rank == 0) {
            continue;
        }
        const std::string& block = project.network.blockOfStored(layer)->name;
        Cost added = costing.adapters(GraphRef::block(block), graphs.at(block), layerPrefix(layer), rank);
        if (project.training.activations == Activations::Recompute) {
            recomputed = std::max(recomputed, std::exchange(added.activationBytes, 0));
            added.trainFlops += added.forwardFlops;
        }
        layers[i] += added;
    }
    return recomputed;
}

Cost sumOf(const std::map<NodeId, Cost>& nodes)
{
    Cost sum;
    for (const auto& [id, cost] : nodes) {
        sum += cost;
    }
    return sum;
}

/// Adds to the head's cost that of its outputs at exits in a training step. Each keeps its log-softmax.
void addExits(const Project& project, const Costing& costing, Cost& head)
{
    const std::vector<UsedExit> exits = usedExits(project, project.network);
    const auto outputs = static_cast<double>(std::ranges::count_if(exits, &UsedExit::givesOutput));
    head.trainFlops *= 1 + outputs;
    head.activationBytes *= 1 + outputs;
    head.lossBytes += outputs * costing.logitBytes();
}

/// Returns the costs of the first tower of a sound document.
CostReport costOfFirst(const Project& project, DeviceKind device, std::int64_t ranks)
{
    const Network& network = project.network;
    const Wiring& wiring = project.stack().topology.wiring;
    const Costing costing(project, device, ranks);
    CostReport report;
    report.nodes.emplace(GraphRef::stem(),
                         costing.nodes(GraphRef::stem(), graphAsRun(wiring, network.stem), kStemPrefix));
    report.nodes.emplace(GraphRef::head(),
                         costing.nodes(GraphRef::head(), graphAsRun(wiring, network.head), kHeadPrefix));
    std::map<std::string, std::vector<Graph>> graphs; // of each block; a sound one has its halves
    for (const Block* const block : usedBlocks(network)) {
        graphs.emplace(block->name, *graphsAsRun(wiring, *block));
    }
    report.stem = sumOf(report.nodes.at(GraphRef::stem()));
    report.head = sumOf(report.nodes.at(GraphRef::head()));
    report.head.lossBytes = costing.lossBytes();
    addExits(project, costing, report.head);
    report.topology =
        ofTopology(topologyCost(network.stack(), costing.kept().inputs(graphs)), project, costing.scale());
    report.topology.optimiserBytes =
        topologyElements(project, costing.scale().stateShare) * costing.scale().weightBytes;
    if (roundsBranches(project.stack().topology)) {
        report.topology.weightBytes += real(report.topology.parameters) * costing.scale().copyBytes;
    }
    report.total = report.stem;
    report.total += report.head;
    report.total += report.topology;
    double recomputed = 0; // activations of the layer whose backward pass runs
    for (const StackSegment& segment : network.stack().segments) {
        const GraphRef ref = GraphRef::block(segment.block);
        const std::vector<Graph>& block = graphs.at(segment.block);
        if (!report.nodes.contains(ref)) {
            report.nodes.emplace(ref, costing.nodes(ref, block, layerPrefix(nextLayer(report))));
        }
        Cost layer = sumOf(report.nodes.at(ref));
        if (project.training.activations == Activations::Recompute) {
            recomputed = std::max(recomputed, layer.activationBytes);
            layer.activationBytes = static_cast<double>(network.stack().width) * costing.scale().positions *
                                    costing.scale().tokens * costing.scale().residualBytes;
            layer.trainFlops += layer.forwardFlops;
        }
        for (std::int64_t i = 0; i < segment.repeat; ++i) {
            if (!project.training.groups.empty()) { // which may name single layers
                layer.optimiserBytes = costing.optimiserBytes(ref, block, layerPrefix(nextLayer(report)));
            }
            report.layers.push_back(layer);
        }
    }
    report.layers = executed(network.stack(), std::move(report.layers));
    recomputed += addAdapters(project, costing, graphs, report.layers);
    for (const Cost& layer : report.layers) {
        report.total += layer;
    }
    report.total.activationBytes += recomputed;
    return report;
}

/// A frozen tower has no gradients, states and kept activations.
Cost asFrozen(Cost cost)
{
    cost.trainFlops = cost.forwardFlops;
    cost.activationBytes = 0;
    cost.optimiserBytes = 0;
    cost.gradientsSent = 0;
    cost.momentsSent = 0;
    return cost;
}

} // namespace

Cost& Cost::operator+=(const Cost& other)
{
    parameters = countOf(static_cast<double>(parameters) + static_cast<double>(other.parameters));
    forwardFlops += other.forwardFlops;
    trainFlops += other.trainFlops;
    activationBytes += other.activationBytes;
    weightBytes += other.weightBytes;
    optimiserBytes += other.optimiserBytes;
    lossBytes += other.lossBytes;
    gradientsSent += other.gradientsSent;
    momentsSent += other.momentsSent;
    return *this;
}

DeviceKind deviceKindOf(std::string_view key)
{
    return key == "cpu" ? DeviceKind::Cpu : DeviceKind::Gpu;
}

std::int64_t lossRows(std::int64_t vocabulary, double bytes)
{
    constexpr double kBytes = 1e9;
    // The operators hold at most three numbers for each logit.
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(kBytes / (3 * bytes * std::max(1.0, real(vocabulary)))));
}

CostReport costOf(const SoundProject& project, DeviceKind device, std::int64_t ranks)
{
    CostReport report = costOfFirst(*project, device, ranks);
    if (project->towers.empty()) {
        return report;
    }
    for (const std::size_t index : usedTowers(*project)) {
        const Network& network = towerAt(*project, index);
        Cost cost = index == 0 ? report.total : costOfFirst(viewOf(*project, index), device, ranks).total;
        cost = network.frozen ? asFrozen(cost) : cost;
        if (!network.weights.empty()) { // they count where they are
            cost.parameters = 0;
            cost.weightBytes = 0;
            cost.optimiserBytes = 0;
            cost.gradientsSent = 0;
        }
        report.towers.emplace(network.name, cost);
    }
    report.total = {};
    for (const auto& [name, cost] : report.towers) {
        report.total += cost;
    }
    return report;
}

Result<CostReport> costOf(const Project& project, DeviceKind device, std::int64_t ranks)
{
    // A pointer that does not own the project, because a copy would cost as much as the check.
    const Result<SoundProject> sound = soundProject(std::shared_ptr<const Project>(std::shared_ptr<void>(), &project));
    return sound ? Result<CostReport>(costOf(*sound, device, ranks)) : sound.error();
}

Result<Cost> costOfShortcut(const SoundProject& project, const Shortcut& shortcut)
{
    const auto* const mix = std::get_if<DepthMix>(&project->stack().topology.wiring);
    if (!mix) {
        return Error{"topology", "this wiring has no shortcuts of its own"};
    }
    const std::int64_t modules = mixedModules(*mix, project->network.depth());
    const std::int64_t last = lastReader(*mix, modules);
    if (shortcut.source < 0 || shortcut.source >= shortcut.target || shortcut.target > last) {
        return Error{"topology · " + textOf(shortcut), "expected 0 ≤ i < j ≤ " + std::to_string(last)};
    }
    const DepthReader now = readerOf(*mix, shortcut.target, modules);
    DepthReader then = now;
    DepthMix learned = *mix;
    if (!now.readsAlone(shortcut.source)) {
        then.sources.push_back(shortcut.source);
    } else if (mix->weight == WeightKind::Fixed) {
        learned.states.try_emplace(shortcut, ShortcutState::Learned);
    }
    const std::int64_t width = project->stack().width;
    NodeCost gained = readerCost(learned, then, modules, width);
    gained -= readerCost(*mix, now, modules, width);
    return ofTopology(gained, *project, scaleOf(*project));
}

Cost costOfShortcuts(const SoundProject& project, const std::set<Shortcut>& shortcuts)
{
    const auto* const mix = std::get_if<DepthMix>(&project->stack().topology.wiring);
    if (!mix) {
        return {};
    }
    const std::int64_t modules = mixedModules(*mix, project->network.depth());
    NodeCost sum;
    for (auto shortcut = shortcuts.begin(); shortcut != shortcuts.end();) {
        const DepthReader all = readerOf(*mix, shortcut->target, modules);
        DepthReader others = all;
        std::erase_if(others.sources, [&](std::int64_t source) {
            return all.readsAlone(source) && shortcuts.contains({source, all.target});
        });
        shortcut = shortcuts.lower_bound({0, all.target + 1});
        sum += readerCost(*mix, all, modules, project->stack().width);
        sum -= readerCost(*mix, others, modules, project->stack().width);
    }
    return ofTopology(sum, *project, scaleOf(*project));
}

} // namespace residua::projects
