// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/resolved_graph.h"

#include "projects/model/project.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace residua::projects {
namespace {

/// Nodes in topological order, and nodes that cannot be ordered because of a cycle.
struct Sorted {
    std::vector<NodeId> order;
    std::set<NodeId> stuck;
};

Sorted sortNodes(const Graph& graph)
{
    std::map<NodeId, std::size_t> waiting;
    for (const Node& node : graph.nodes) {
        waiting.emplace(node.id, 0);
    }
    std::map<NodeId, std::vector<NodeId>> followers;
    for (const Wire& wire : graph.wires) {
        if (waiting.contains(wire.from.node) && waiting.contains(wire.to.node)) {
            followers[wire.from.node].push_back(wire.to.node);
            ++waiting[wire.to.node];
        }
    }
    Sorted result;
    for (const Node& node : graph.nodes) {
        if (const auto it = waiting.find(node.id); it != waiting.end() && it->second == 0) {
            result.order.push_back(node.id);
            waiting.erase(it);
        }
    }
    for (std::size_t i = 0; i < result.order.size(); ++i) {
        for (const NodeId next : followers[result.order[i]]) {
            if (const auto it = waiting.find(next); it != waiting.end() && --it->second == 0) {
                result.order.push_back(next);
                waiting.erase(it);
            }
        }
    }
    for (const auto& [id, count] : waiting) {
        result.stuck.insert(id);
    }
    return result;
}

/// Returns one cycle among the stuck nodes, in the direction of its wires. Every stuck node has a stuck predecessor, so
/// walking back must repeat a node.
std::vector<NodeId> cycleAmong(const Graph& graph, const std::set<NodeId>& stuck)
{
    std::map<NodeId, NodeId> predecessor;
    for (const Wire& wire : graph.wires) {
        if (stuck.contains(wire.from.node) && stuck.contains(wire.to.node)) {
            predecessor.emplace(wire.to.node, wire.from.node);
        }
    }
    std::vector<NodeId> walk{*stuck.begin()};
    auto back = walk.end();
    do {
        walk.push_back(predecessor.at(walk.back()));
        back = std::find(walk.begin(), walk.end() - 1, walk.back());
    } while (back == walk.end() - 1);
    std::vector<NodeId> cycle(back, walk.end());
    std::ranges::reverse(cycle);
    return cycle;
}

std::string cycleText(const Graph& graph, const std::set<NodeId>& stuck)
{
    std::string text;
    for (const NodeId id : cycleAmong(graph, stuck)) {
        text += (text.empty() ? "" : " > ") +
                (graph.find(id) ? graph.find(id)->name : "#" + std::to_string(static_cast<std::uint32_t>(id)));
    }
    return text;
}

/// Checks that a rank is at most the smaller side of its weight.
Status checkRank(const ParamMap& params, const NodeParameter& weight)
{
    const std::int64_t most = std::min(weight.out(), weight.in());
    const std::optional<std::int64_t> rank = rankOf(params, weight.rank, weight.out(), weight.in());
    if (!rank || *rank <= most) {
        return Done{};
    }
    return Error{"", weight.rank + " " + std::to_string(*rank) + " is above the smaller side of " + weight.name +
                         ", which is " + std::to_string(weight.out()) + " × " + std::to_string(weight.in()) +
                         "; expected at most " + std::to_string(most) + ", a share, or full"};
}

/// Resolves one graph, node by node.
class Resolver {
public:
    Resolver(const Graph& graph, const GraphRef& ref, const Result<Sizes>& sizes, const Shape& entering,
             const std::map<std::string, Shape>& others)
        : m_graph(graph), m_ref(ref), m_sizes(sizes), m_entering(entering), m_others(others)
    {
        for (const Wire& wire : graph.wires) {
            m_feeds.emplace(wire.to, wire);
        }
        for (const Node& node : graph.nodes) {
            m_nodes.emplace(node.id, &node);
        }
    }

    ResolvedGraph run()
    {
        const Sorted sorted = sortNodes(m_graph);
        if (m_sizes) {
            m_graphSizes = sizesIn(*m_sizes, m_ref);
        }
        for (const NodeId id : sorted.order) {
            const Node& node = *m_nodes.at(id);
            if (m_sizes) {
                resolve(node);
            } else {
                m_result.errors.emplace(id, m_sizes.error());
            }
        }
        for (const NodeId id : sorted.stuck) {
            fail(*m_nodes.at(id), Error{"", "in or behind the cycle " + cycleText(m_graph, sorted.stuck)});
        }
        addOutputPorts();
        return std::move(m_result);
    }

private:
    void addOutputPorts()
    {
        for (const bool first : {true, false}) {
            for (const Node& node : m_graph.nodes) {
                if (roleOf(node) != NodeRole::GraphOutput || m_nodes.at(node.id) != &node) {
                    continue; // if two nodes have the same id, it belongs to the other
                }
                const auto resolved = std::ranges::find(m_result.nodes, node.id, &ResolvedNode::id);
                const std::string port = graphPortOf(node);
                if (resolved != m_result.nodes.end() && (port == kOutputPort) == first) {
                    m_result.outputPorts.push_back({port, node.id, resolved->feeds[0], resolved->in[0]});
                }
            }
        }
    }

    void resolve(const Node& node)
    {
        Result<ParamMap> params = evaluateParams(node, m_graphSizes);
        if (!params) {
            const std::string name = params.error().place;
            m_result.errors.emplace(
                node.id,
                Error{placeOf(m_ref, node), (name.empty() ? "" : "parameter " + name + ": ") + params.error().message});
            return;
        }
        const NodeKind& kind = *findNodeKind(node.kind);
        ResolvedNode resolved{node.id, &kind, std::move(*params), {}, {}, {}};
        if (kind.traits.role != NodeRole::GraphInput && !gather(node, resolved)) {
            return;
        }
        if (kind.traits.role == NodeRole::GraphInput) {
            const auto other = m_others.find(graphPortOf(node));
            resolved.out = {other == m_others.end() ? m_entering : other->second};
        } else if (Result<std::vector<Shape>> out = kind.shapeRule(resolved.params, resolved.in)) {
            resolved.out = *std::move(out);
        } else {
            fail(node, out.error());
            return;
        }
        for (const NodeParameter& weight : rankedWeightsOf(resolved)) {
            if (const Status rank = checkRank(resolved.params, weight); !rank) {
                fail(node, rank.error());
                return;
            }
        }
        for (std::size_t i = 0; i < resolved.out.size(); ++i) {
            m_result.outputs.emplace(PortRef{node.id, kind.outputs[i]}, resolved.out[i]);
        }
        m_result.nodes.push_back(std::move(resolved));
    }

    /// Returns false if an input is not wired (reported here) or has no shape (reported elsewhere).
    bool gather(const Node& node, ResolvedNode& resolved)
    {
        bool known = true;
        for (const std::string& port : inputPortsOf(node, m_graph)) {
            const auto wire = m_feeds.find(PortRef{node.id, port});
            if (wire == m_feeds.end()) {
                m_result.errors.emplace(node.id, Error{placeOf(m_ref, node), "input " + port + " is not wired"});
                m_result.unwired.insert(node.id);
                return false;
            }
            const auto shape = m_result.outputs.find(wire->second.from);
            if (shape == m_result.outputs.end() && !exists(wire->second.from)) {
                fail(node, Error{port, "there is no such output"});
                return false;
            }
            known = known && shape != m_result.outputs.end();
            if (known) {
                resolved.feeds.push_back(wire->second.from);
                resolved.in.push_back(shape->second);
            }
        }
        return known;
    }

    /// True if the document has this output. An unknown kind is reported at its node.
    bool exists(const PortRef& output) const
    {
        const auto node = m_nodes.find(output.node);
        const NodeKind* const kind = node == m_nodes.end() ? nullptr : findNodeKind(node->second->kind);
        return node != m_nodes.end() && (!kind || std::ranges::find(kind->outputs, output.port) != kind->outputs.end());
    }

    void fail(const Node& node, const Error& error)
    {
        const auto wire = m_feeds.find(PortRef{node.id, error.place});
        const std::string place = wire == m_feeds.end() ? placeOf(m_ref, node) : placeOf(m_ref, m_graph, wire->second);
        m_result.errors.emplace(node.id, Error{place, error.message});
    }

    const Graph& m_graph;
    const GraphRef& m_ref;
    const Result<Sizes>& m_sizes;
    Sizes m_graphSizes; ///< the sizes as they apply in this graph (sizesIn)
    const Shape& m_entering;
    const std::map<std::string, Shape>& m_others;
    std::map<PortRef, Wire> m_feeds;
    std::map<NodeId, const Node*> m_nodes;
    ResolvedGraph m_result;
};

const Node* firstOf(const Graph& graph, const std::vector<NodeId>& order, NodeRole role)
{
    for (const NodeId id : order) {
        if (const Node* const node = graph.find(id); roleOf(*node) == role && !hasOwnRank(*node)) {
            return node;
        }
    }
    return nullptr;
}

} // namespace

Shape stackShapeOf(const ResolvedGraph& stem, const Shape& entering, std::int64_t width)
{
    Shape shape = entering;
    if (const OutputPort* const output = stem.outputPort(kOutputPort); output && output->shape.dims.size() > 1) {
        shape = output->shape;
    } else if (shape.element == Element::Token) {
        shape.dims.push_back(0);
    }
    shape.element = Element::Real;
    shape.dims.back() = width;
    return shape;
}

Shape stackShapeOf(const Project& project)
{
    return stackShapeOf(resolveGraph(project, GraphRef::stem()), enteringShapeOf(project), project.stack().width);
}

const OutputPort* ResolvedGraph::outputPort(std::string_view name) const
{
    const auto found = std::ranges::find(outputPorts, name, &OutputPort::name);
    return found == outputPorts.end() ? nullptr : &*found;
}

ResolvedGraph resolveGraph(const Project& project, const GraphRef& ref)
{
    const Graph* const graph = findGraph(project, ref);
    return graph ? resolveGraph(project, ref, *graph) : ResolvedGraph{};
}

ResolvedGraph resolveGraph(const Project& project, const GraphRef& ref, const Graph& graph)
{
    return resolveGraph(graph, ref, sizesOf(project), ref.isStem() ? enteringShapeOf(project) : stackShapeOf(project),
                        conditionsOf(project));
}

ResolvedGraph resolveGraph(const Graph& graph, const GraphRef& ref, const Result<Sizes>& sizes, const Shape& entering,
                           const std::map<std::string, Shape>& others)
{
    return Resolver(graph, ref, sizes, entering, others).run();
}

Sizes sizesIn(const Sizes& sizes, const GraphRef& ref)
{
    Sizes result = sizes;
    if (!ref.isBlock()) {
        result.rank = FullRank{};
    }
    return result;
}

std::vector<NodeParameter> rankedWeightsOf(const ResolvedNode& node)
{
    std::vector<NodeParameter> weights;
    if (node.kind->parametersRule && !node.in.empty()) {
        weights = node.kind->parametersRule(node.params, node.in);
        std::erase_if(weights, [](const NodeParameter& parameter) { return parameter.rank.empty(); });
    }
    return weights;
}

std::string activationAfter(const Graph& graph, const ResolvedGraph& resolved, NodeId node)
{
    std::set<std::string> functions;
    for (const Wire& wire : graph.wires) {
        if (wire.from.node == node) {
            const auto reader = std::ranges::find(resolved.nodes, wire.to.node, &ResolvedNode::id);
            // A batch norm shifts and scales each feature, which does not change what a fit has to look at.
            if (reader != resolved.nodes.end() && reader->kind->traits.mixesExamples) {
                functions.insert(activationAfter(graph, resolved, reader->id));
                continue;
            }
            const auto* const rule = reader == resolved.nodes.end() ? nullptr : &reader->kind->activationRule;
            functions.insert(rule && *rule ? (*rule)(reader->params, wire.to.port) : std::string());
        }
    }
    return functions.size() == 1 ? *functions.begin() : std::string();
}

std::set<NodeId> residualWriters(const Graph& block)
{
    const std::vector<NodeId> order = sortNodes(block).order;
    std::set<NodeId> writers;
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
        const bool reaches = std::ranges::any_of(block.wires, [&](const Wire& wire) {
            const Node* const reader = wire.from.node == *id ? block.find(wire.to.node) : nullptr;
            const NodeKind* const kind = reader ? findNodeKind(reader->kind) : nullptr;
            return kind && kind->traits.passesResidual &&
                   (kind->traits.role == NodeRole::GraphOutput || writers.contains(reader->id));
        });
        if (reaches) {
            writers.insert(*id);
        }
    }
    return writers;
}

Result<std::vector<NodeId>> topologicalOrder(const Graph& graph)
{
    Sorted sorted = sortNodes(graph);
    if (!sorted.stuck.empty()) {
        return Error{"", "wires form a cycle: " + cycleText(graph, sorted.stuck)};
    }
    return std::move(sorted.order);
}

std::optional<TiedNodes> tiedNodes(const Network& network)
{
    if (!network.tieHead) {
        return std::nullopt;
    }
    const Sorted stem = sortNodes(network.stem);
    Sorted head = sortNodes(network.head);
    std::ranges::reverse(head.order);
    std::set<NodeId> behind; // the output, and what it reads
    for (const NodeId id : head.order) {
        const Node& node = *network.head.find(id);
        const bool isRead = std::ranges::any_of(network.head.wires, [&](const Wire& wire) {
            return wire.from.node == id && behind.contains(wire.to.node);
        });
        if (isRead || (roleOf(node) == NodeRole::GraphOutput && graphPortOf(node) == kOutputPort)) {
            behind.insert(id);
        }
    }
    std::erase_if(head.order, [&](NodeId id) { return !behind.contains(id); });
    const Node* const embedding = firstOf(network.stem, stem.order, NodeRole::TokenEmbedding);
    const Node* const linear = firstOf(network.head, head.order, NodeRole::Linear);
    return embedding && linear ? std::optional(TiedNodes{embedding->id, linear->id}) : std::nullopt;
}

const Node* headNormOf(const Network& network)
{
    for (const Wire& wire : network.head.wires) {
        const Node* const from = network.head.find(wire.from.node);
        const Node* const to = network.head.find(wire.to.node);
        if (from != nullptr && to != nullptr && roleOf(*from) == NodeRole::GraphInput && to->kind == "rms_norm" &&
            weightOwnerOf(*to).empty()) {
            return to;
        }
    }
    return nullptr;
}

} // namespace residua::projects
