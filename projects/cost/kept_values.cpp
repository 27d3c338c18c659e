// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/cost/kept_values.h"

#include "projects/cost/cost_topology.h"
#include "projects/nodes/ffn_site.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <set>

namespace residua::projects {
namespace {

/// Returns the nodes whose output has the residual's precision: the inputs, and elementwise results of them.
std::set<NodeId> residualNodes(const ResolvedGraph& resolved)
{
    std::set<NodeId> residual;
    for (const ResolvedNode& node : resolved.nodes) {
        const bool reads =
            std::ranges::any_of(node.feeds, [&](const PortRef& feed) { return residual.contains(feed.node); });
        if (node.kind->traits.role == NodeRole::GraphInput || (reads && !node.kind->traits.multiplies)) {
            residual.insert(node.id);
        }
    }
    return residual;
}

} // namespace

KeptValues::KeptValues(const Project& project, double residualBytes, double activationBytes)
    : m_project(project), m_residualBytes(residualBytes), m_activationBytes(activationBytes)
{
}

std::map<NodeId, double> KeptValues::outputs(const GraphRef& ref, const ResolvedGraph& resolved) const
{
    const std::set<NodeId> residual = ref.isStem() ? std::set<NodeId>() : residualNodes(resolved);
    std::map<NodeId, double> kept;
    for (const ResolvedNode& node : resolved.nodes) {
        const NodeTraits reader = traitsOf(*node.kind, node.params);
        const bool leaves = reader.role == NodeRole::GraphOutput;
        const bool leavesBlock = leaves && ref.isBlock();
        const bool keeps = leavesBlock              ? keepsBranches(m_project.stack().topology)
                           : leaves && ref.isStem() ? keepsStem()
                           : leaves                 ? keepsOutput()
                                                    : reader.keepsInputs;
        if (!keeps) {
            continue;
        }
        const bool stacked = leavesBlock ? !roundsBranches(m_project.stack().topology) : leaves && ref.isStem();
        for (const PortRef& feed : node.feeds) {
            const bool asResidual = stacked || (residual.contains(feed.node) && !reader.multiplies);
            double& bytes = kept[feed.node];
            bytes = std::max(bytes, asResidual ? m_residualBytes : m_activationBytes);
        }
    }
    for (const ResolvedNode& node : std::views::reverse(resolved.nodes)) {
        const bool isView = traitsOf(*node.kind, node.params).isView;
        if (const auto view = kept.find(node.id); isView && view != kept.end()) {
            const double viewed = view->second;
            double& bytes = kept[node.feeds[0].node];
            bytes = std::max(bytes, viewed);
        }
    }
    return kept;
}

std::vector<bool> KeptValues::inputs(const std::map<std::string, std::vector<Graph>>& graphs) const
{
    std::map<std::string, bool> ofBlock;
    for (const auto& [name, block] : graphs) {
        ofBlock.emplace(name, keepsInput(GraphRef::block(name), block));
    }
    const Network& network = m_project.network;
    std::vector<bool> kept;
    for (std::int64_t layer = 1; layer <= network.depth(); ++layer) {
        kept.push_back(ofBlock.at(network.blockOfLayer(layer)->name));
    }
    kept.push_back(keepsInput(GraphRef::head(), {graphAsRun(network.stack().topology.wiring, network.head)}) ||
                   keepsStates());
    return kept;
}

/// True if the backward pass of one of the graphs needs what the graph reads.
bool KeptValues::keepsInput(const GraphRef& ref, const std::vector<Graph>& graphs) const
{
    return std::ranges::any_of(graphs, [&](const Graph& graph) {
        const ResolvedGraph resolved = resolveGraph(m_project, ref, graph);
        const std::map<NodeId, double> kept = outputs(ref, resolved);
        return std::ranges::any_of(resolved.nodes, [&](const ResolvedNode& node) {
            return node.kind->traits.role == NodeRole::GraphInput && kept.contains(node.id);
        });
    });
}

bool KeptValues::keepsOutput() const
{
    return m_project.network.ownLoss != OwnLoss::None || isRead(m_project, outputOf(m_project.network));
}

/// True if a reader of the states besides the head keeps them: a loss, a port, or the stem of another tower.
bool KeptValues::keepsStates() const
{
    const std::string states = statesOf(m_project.network);
    if (!isRead(m_project, states)) {
        return false;
    }
    Project others = m_project;
    for (std::size_t index = 1; index < towerCount(m_project); ++index) {
        if (towerAt(m_project, index).input != states) {
            continue;
        }
        others.towers[index - 1].network.input.clear();
        const Project reader = viewOf(m_project, index);
        const Graph stem = graphAsRun(reader.stack().topology.wiring, reader.network.stem);
        if (KeptValues(reader, m_residualBytes, m_activationBytes).keepsInput(GraphRef::stem(), {stem})) {
            return true;
        }
    }
    return isRead(others, states);
}

/// True if the stack keeps its input: as an entry, for a gate, or for its first layer.
bool KeptValues::keepsStem() const
{
    const Topology& topology = m_project.stack().topology;
    const Block* const first = m_project.network.blockOfLayer(1);
    const auto* const mix = std::get_if<DepthMix>(&topology.wiring);
    const auto* const gate = std::get_if<BranchGate>(&topology.wiring);
    const bool onlyAdds = gate != nullptr ? !keepsResidual(gate->gate) : mix != nullptr && isRunningSum(*mix);
    return !onlyAdds || first == nullptr ||
           keepsInput(GraphRef::block(first->name), *graphsAsRun(topology.wiring, *first));
}

} // namespace residua::projects
