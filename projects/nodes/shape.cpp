// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/shape.h"

#include "projects/model/project.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/places.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace residua::projects {
namespace {

std::string nodeText(const Graph& graph, NodeId id)
{
    const Node* const node = graph.find(id);
    return node ? node->name : "#" + std::to_string(static_cast<std::uint32_t>(id));
}

/// Nodes whose every predecessor comes before them, and those that never get there because of a cycle.
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

/// One cycle among the stuck nodes, in the direction of its wires. Every stuck node has a stuck predecessor, so
/// walking back comes round.
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
        text += (text.empty() ? "" : " > ") + nodeText(graph, id);
    }
    return text;
}

/// Infers one graph's shapes, node by node.
class Inference {
public:
    Inference(const Project& project, const GraphRef& ref, const Graph& graph)
        : m_project(project), m_ref(ref), m_graph(graph), m_sizes(sizesOf(project))
    {
        for (const Wire& wire : graph.wires) {
            m_feeds.emplace(wire.to, wire);
        }
        for (const Node& node : graph.nodes) {
            m_nodes.emplace(node.id, &node);
        }
    }

    GraphShapes run()
    {
        const Sorted sorted = sortNodes(m_graph);
        for (const NodeId id : sorted.order) {
            const Node& node = *m_nodes.at(id);
            if (m_sizes) {
                infer(node);
            } else {
                m_shapes.errors.emplace(id, m_sizes.error());
            }
        }
        for (const NodeId id : sorted.stuck) {
            fail(*m_nodes.at(id), Error{"", "in or behind the cycle " + cycleText(m_graph, sorted.stuck)});
        }
        return std::move(m_shapes);
    }

private:
    void infer(const Node& node)
    {
        const Result<ParamMap> params = evaluateParams(node, *m_sizes);
        if (!params) {
            const std::string name = params.error().place;
            m_shapes.errors.emplace(
                node.id,
                Error{placeOf(m_ref, node), (name.empty() ? "" : "parameter " + name + ": ") + params.error().message});
            return;
        }
        const NodeKind& kind = *findNodeKind(node.kind);
        if (kind.key == "input") {
            m_shapes.outputs.emplace(PortRef{node.id, kind.outputs[0]}, entering());
            return;
        }
        std::vector<Shape> inputs;
        if (!gather(node, inputs)) {
            return;
        }
        if (kind.key == "output") {
            m_shapes.graphOutputs.emplace(paramText(*params, "port"), inputs[0]);
            return;
        }
        const Result<std::vector<Shape>> outputs = kind.shapeRule(*params, inputs);
        if (!outputs) {
            fail(node, outputs.error());
            return;
        }
        for (std::size_t i = 0; i < outputs->size(); ++i) {
            m_shapes.outputs.emplace(PortRef{node.id, kind.outputs[i]}, (*outputs)[i]);
        }
    }

    /// False where an input is not wired (an error here) or has no shape (an error elsewhere).
    bool gather(const Node& node, std::vector<Shape>& inputs)
    {
        bool known = true;
        for (const std::string& port : inputPortsOf(node, m_graph)) {
            const auto wire = m_feeds.find(PortRef{node.id, port});
            if (wire == m_feeds.end()) {
                m_shapes.errors.emplace(node.id, Error{placeOf(m_ref, node), "input " + port + " is not wired"});
                return false;
            }
            const auto shape = m_shapes.outputs.find(wire->second.from);
            if (shape == m_shapes.outputs.end() && !exists(wire->second.from)) {
                fail(node, Error{port, "there is no such output"});
                return false;
            }
            known = known && shape != m_shapes.outputs.end();
            if (known) {
                inputs.push_back(shape->second);
            }
        }
        return known;
    }

    /// Whether the document has this output; one of an unknown kind is reported there.
    bool exists(const PortRef& output) const
    {
        const auto node = m_nodes.find(output.node);
        const NodeKind* const kind = node == m_nodes.end() ? nullptr : findNodeKind(node->second->kind);
        return node != m_nodes.end() && (!kind || std::ranges::find(kind->outputs, output.port) != kind->outputs.end());
    }

    /// What a graph is given: tokens or vectors for the stem, stack entries for the rest.
    Shape entering() const
    {
        const bool language = isLanguage(m_project.data);
        if (m_ref != kStem) {
            const std::int64_t width = m_project.network.width;
            return language ? Shape{{kBatch, kTime, width}} : Shape{{kBatch, width}};
        }
        return language ? Shape{{kBatch, kTime}, Element::Token} : Shape{{kBatch, vectorWidthsOf(m_project.data).in}};
    }

    void fail(const Node& node, const Error& error)
    {
        const auto wire = m_feeds.find(PortRef{node.id, error.place});
        const std::string place = wire == m_feeds.end() ? placeOf(m_ref, node) : placeOf(m_ref, m_graph, wire->second);
        m_shapes.errors.emplace(node.id, Error{place, error.message});
    }

    const Project& m_project;
    const GraphRef& m_ref;
    const Graph& m_graph;
    Result<Sizes> m_sizes;
    std::map<PortRef, Wire> m_feeds;
    std::map<NodeId, const Node*> m_nodes;
    GraphShapes m_shapes;
};

const Node* firstOfKind(const Graph& graph, const std::vector<NodeId>& order, const std::string& kind)
{
    for (const NodeId id : order) {
        if (const Node* const node = graph.find(id); node->kind == kind) {
            return node;
        }
    }
    return nullptr;
}

} // namespace

std::string Shape::text() const
{
    std::string text = element == Element::Token ? "tokens [" : "[";
    for (std::size_t i = 0; i < dims.size(); ++i) {
        text += i == 0 ? "" : ", ";
        text += dims[i] == kBatch ? "batch" : dims[i] == kTime ? "time" : std::to_string(dims[i]);
    }
    return text + "]";
}

Result<Sizes> sizesOf(const Project& project)
{
    const auto positive = [](const char* place, std::int64_t size) -> Status {
        constexpr std::int64_t kMost = 100'000'000;
        const std::string got = "got " + std::to_string(size);
        return size >= 1 && size <= kMost ? Status(Done{})
                                          : Error{place, got + ", expected 1 to " + std::to_string(kMost)};
    };
    if (const Status ok = positive("network · width", project.network.width); !ok) {
        return ok.error();
    }
    Sizes sizes{{{"d", project.network.width}}};
    if (isLanguage(project.data)) {
        const std::int64_t vocabulary = vocabularyOf(project.data);
        if (const Status ok = positive("data · vocabulary", vocabulary); !ok) {
            return ok.error();
        }
        if (const Status ok = positive("training · sequence length", project.training.sequenceLength); !ok) {
            return ok.error();
        }
        sizes.named["vocab"] = vocabulary;
        sizes.named["seq"] = project.training.sequenceLength;
        return sizes;
    }
    const VectorWidths widths = vectorWidthsOf(project.data);
    if (const Status ok = positive("data · dimension", widths.in); !ok) {
        return ok.error();
    }
    sizes.named["in"] = widths.in;
    sizes.named["out"] = widths.out;
    return sizes;
}

const Graph* findGraph(const Project& project, const GraphRef& ref)
{
    if (ref == kStem) {
        return &project.network.stem;
    }
    if (ref == kHead) {
        return &project.network.head;
    }
    const std::string_view prefix = kBlockPrefix;
    const Block* const block = ref.starts_with(prefix) ? project.network.findBlock(ref.substr(prefix.size())) : nullptr;
    return block ? &block->graph : nullptr;
}

Graph* findGraph(Project& project, const GraphRef& ref)
{
    return const_cast<Graph*>(findGraph(std::as_const(project), ref));
}

GraphShapes inferShapes(const Project& project, const GraphRef& ref)
{
    const Graph* const graph = findGraph(project, ref);
    return graph ? Inference(project, ref, *graph).run() : GraphShapes{};
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
    const Node* const embedding = firstOfKind(network.stem, stem.order, "token_embedding");
    const Node* const linear = firstOfKind(network.head, head.order, "linear");
    return embedding && linear ? std::optional(TiedNodes{embedding->id, linear->id}) : std::nullopt;
}

std::string placeOf(const GraphRef& ref)
{
    const std::string_view prefix = kBlockPrefix;
    return ref.starts_with(prefix) ? "block " + ref.substr(prefix.size()) : ref;
}

std::string placeOf(const GraphRef& ref, const Node& node)
{
    return placeOf(ref) + " · node " + node.name;
}

std::string placeOf(const GraphRef& ref, const Graph& graph, const Wire& wire)
{
    return placeOf(ref) + " · wire " + nodeText(graph, wire.from.node) + "." + wire.from.port + " > " +
           nodeText(graph, wire.to.node) + "." + wire.to.port;
}

} // namespace residua::projects
