// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/graphs/graph_edits.h"

#include "projects/base/text.h"
#include "projects/model/places.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/resolved_graph.h"

#include <algorithm>
#include <utility>

namespace residua::projects {
namespace {

bool hasNode(const Graph& graph, const std::string& name)
{
    return std::ranges::any_of(graph.nodes, [&](const Node& node) { return node.name == name; });
}

// "norm3" gives "norm": a copy continues the numbering of the original name.
std::string withoutNumber(std::string name)
{
    while (name.size() > 1 && name.back() >= '0' && name.back() <= '9') {
        name.pop_back();
    }
    return name;
}

const Wire* feedOf(const Graph& graph, const PortRef& input)
{
    const auto found = std::ranges::find(graph.wires, input, &Wire::to);
    return found == graph.wires.end() ? nullptr : &*found;
}

std::string nameOf(const Graph& graph, const PortRef& port)
{
    const Node* node = graph.find(port.node);
    return (node != nullptr ? node->name : std::string("?")) + "." + port.port;
}

} // namespace

Node newNode(const Graph& graph, const std::string& kind)
{
    return {graph.nextId(), kind, freeName(kind, [&](const std::string& name) { return hasNode(graph, name); }), {}};
}

std::optional<PortRef> portFor(const Graph& graph, NodeId node, PortSide side)
{
    const Node* const found = graph.find(node);
    const NodeKind* const kind = found != nullptr ? findNodeKind(found->kind) : nullptr;
    if (kind == nullptr) {
        return std::nullopt;
    }
    std::vector<std::string> ports = side == PortSide::Output ? kind->outputs : inputPortsOf(*found, graph);
    auto port = ports.begin();
    if (side == PortSide::Input) {
        if (auto spare = nextInputPort(*found, graph)) {
            ports.push_back(*std::move(spare));
        }
        port = std::ranges::find_if(ports, [&](const std::string& each) {
            return feedOf(graph, {node, each}) == nullptr;
        });
        port = port == ports.end() ? ports.begin() : port;
    }
    return port == ports.end() ? std::nullopt : std::optional(PortRef{node, *port});
}

WireCheck checkWire(const Project& project, const GraphRef& ref, const Wire& wire)
{
    WireCheck check;
    const Graph* graph = findGraph(project, ref);
    if (graph == nullptr || graph->find(wire.from.node) == nullptr || graph->find(wire.to.node) == nullptr) {
        return check;
    }
    if (wire.from.node == wire.to.node) {
        check.message = "a node cannot read itself";
        return check;
    }
    const Wire* before = feedOf(*graph, wire.to);
    if (before != nullptr && *before == wire) {
        check.message = "is there already";
        return check;
    }
    Project changed = project;
    Graph& drawn = *findGraph(changed, ref);
    std::erase_if(drawn.wires, [&](const Wire& each) { return each.to == wire.to; });
    drawn.wires.insert(std::ranges::lower_bound(drawn.wires, wire), wire);
    if (const auto order = topologicalOrder(drawn); !order) {
        check.message = order.error().message;
        return check;
    }
    check.possible = true;
    const ResolvedGraph shapes = resolveGraph(changed, ref);
    if (const auto carried = shapes.outputs.find(wire.from); carried != shapes.outputs.end()) {
        check.carries = carried->second.text();
    }
    const auto error = shapes.errors.find(wire.to.node);
    // The node may have an error because another input is unwired. The new wire fits nevertheless.
    check.fits = error == shapes.errors.end() || shapes.unwired.contains(wire.to.node);
    if (!check.fits) {
        check.message = error->second.message;
    } else if (before != nullptr) {
        check.message = "instead of " + nameOf(*graph, before->from);
    }
    return check;
}

std::vector<Edit> wireEdits(const Graph& graph, const GraphRef& ref, const Wire& wire,
                            const std::optional<Wire>& instead)
{
    std::vector<Edit> edits;
    const Wire* before = feedOf(graph, wire.to);
    if (instead && (before == nullptr || *instead != *before)) {
        edits.emplace_back(RemoveWire{ref, *instead});
    }
    if (before != nullptr) {
        edits.emplace_back(RemoveWire{ref, *before});
    }
    edits.emplace_back(AddWire{ref, wire});
    return edits;
}

std::vector<Edit> removeEdits(const GraphRef& ref, const std::set<NodeId>& nodes, const std::set<Wire>& wires)
{
    std::vector<Edit> edits;
    for (const Wire& wire : wires) {
        if (!nodes.contains(wire.from.node) && !nodes.contains(wire.to.node)) {
            edits.emplace_back(RemoveWire{ref, wire});
        }
    }
    for (const NodeId node : nodes) {
        edits.emplace_back(RemoveNode{ref, node});
    }
    return edits;
}

BlockFile fragmentOf(const Graph& graph, const std::set<NodeId>& nodes, const std::map<NodeId, Position>& places)
{
    BlockFile fragment;
    for (const Node& node : graph.nodes) {
        if (nodes.contains(node.id)) {
            fragment.block.graph.nodes.push_back(node);
            if (const auto at = places.find(node.id); at != places.end()) {
                fragment.positions[node.id] = at->second;
            }
        }
    }
    for (const Wire& wire : graph.wires) {
        if (nodes.contains(wire.from.node) && nodes.contains(wire.to.node)) {
            fragment.block.graph.wires.push_back(wire);
        }
    }
    return fragment;
}

Insertion insertEdits(const Graph& graph, const GraphRef& ref, const BlockFile& fragment, Position by)
{
    Insertion insertion;
    Graph grown = graph;
    std::map<NodeId, NodeId> ids;
    std::map<std::string, std::string> names;
    for (const Node& original : fragment.block.graph.nodes) {
        Node node = original;
        node.id = grown.nextId();
        if (hasNode(grown, node.name)) {
            node.name = freeName(withoutNumber(node.name), [&](const std::string& n) { return hasNode(grown, n); });
        }
        ids.emplace(original.id, node.id);
        names.emplace(original.name, node.name);
        grown.nodes.push_back(node);
    }
    for (const auto& [original, copy] : ids) {
        Node& node = *grown.find(copy);
        const std::string owner = weightOwnerOf(node);
        if (const auto renamed = names.find(owner); !owner.empty() && renamed != names.end()) {
            node.params[kShareParam] = renamed->second;
        }
        std::optional<Position> position;
        if (const auto at = fragment.positions.find(original); at != fragment.positions.end()) {
            position = Position{at->second.x + by.x, at->second.y + by.y};
        }
        insertion.edits.emplace_back(AddNode{ref, node, position});
        insertion.nodes.insert(copy);
    }
    for (const Wire& wire : fragment.block.graph.wires) {
        const auto from = ids.find(wire.from.node);
        const auto to = ids.find(wire.to.node);
        if (from != ids.end() && to != ids.end()) {
            insertion.edits.emplace_back(AddWire{ref, {{from->second, wire.from.port}, {to->second, wire.to.port}}});
        }
    }
    return insertion;
}

} // namespace residua::projects
