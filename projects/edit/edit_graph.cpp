// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit/edit_apply.h"

#include "projects/model/places.h"
#include "projects/nodes/node_kinds.h"

#include <algorithm>

namespace residua::projects {

namespace {

Error noGraph(const GraphRef& ref)
{
    return {placeOf(ref), "does not exist"};
}

Result<Graph*> graphAt(Document& document, const GraphRef& ref)
{
    Graph* const graph = findGraph(document.project, ref);
    return graph != nullptr ? Result<Graph*>(graph) : noGraph(ref);
}

/// A graph and a node in it, or an error that tells which of them is missing.
struct Found {
    Graph* graph = nullptr;
    Node* node = nullptr;
};
Result<Found> find(Document& document, const GraphRef& ref, NodeId id)
{
    Graph* const graph = RESIDUA_TRY(graphAt(document, ref));
    Node* const node = graph->find(id);
    return node != nullptr ? Result<Found>(Found{graph, node}) : Error{placeOf(ref), "has no node " + textOf(id)};
}

bool touches(const Wire& wire, NodeId id)
{
    return wire.from.node == id || wire.to.node == id;
}

void place(Layout& layout, const GraphRef& ref, NodeId id, const std::optional<Position>& position)
{
    if (position) {
        layout.positions[ref].insert_or_assign(id, *position);
        return;
    }
    const auto graph = layout.positions.find(ref);
    if (graph != layout.positions.end() && graph->second.erase(id) == 1 && graph->second.empty()) {
        layout.positions.erase(graph);
    }
}

/// Removes the positions of nodes that `ref` no longer has.
void dropStrays(Document& document, const GraphRef& ref)
{
    const auto found = document.layout.positions.find(ref);
    if (found == document.layout.positions.end()) {
        return;
    }
    const Graph* graph = findGraph(document.project, ref);
    const std::map<NodeId, Position> positions = found->second;
    for (const auto& [id, position] : positions) {
        if (graph == nullptr || graph->find(id) == nullptr) {
            place(document.layout, ref, id, std::nullopt);
        }
    }
}

/// Returns an error if the list has as many entries as its file may contain.
template <class T>
std::optional<Error> fullError(const std::vector<T>& list, const std::string& place, const char* what)
{
    if (list.size() < kMostOf<T>) {
        return std::nullopt;
    }
    return Error{place,
                 "has " + std::to_string(list.size()) + " " + what + " already, which is as many as there may be"};
}

std::optional<Error> twinOf(const GraphRef& ref, const Graph& graph, const std::string& name, NodeId self)
{
    const auto twin = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                   [&](const Node& node) { return node.name == name && node.id != self; });
    if (twin == graph.nodes.end()) {
        return std::nullopt;
    }
    return Error{placeOf(ref, *twin), "has the name \"" + name + "\" already; expected a name of its own"};
}

const std::string kBlockList = "/network/blocks";

std::string nodeList(const Document& document, const GraphRef& ref)
{
    return textOf(document.project, GraphPointer{ref}) + "/nodes";
}

} // namespace

Status applyTo(Document& document, const AddNode& edit)
{
    Graph* const graph = RESIDUA_TRY(graphAt(document, edit.graph));
    auto node = RESIDUA_TRY(canonical(edit.node, placeOf(edit.graph, edit.node)));
    if (const Node* twin = graph->find(node.id)) {
        return Error{placeOf(edit.graph, *twin),
                     "has the id " + textOf(node.id) + " already; expected an id of its own"};
    }
    if (auto twin = twinOf(edit.graph, *graph, node.name, node.id)) {
        return *std::move(twin);
    }
    if (auto full = fullError(graph->nodes, placeOf(edit.graph), "nodes")) {
        return *std::move(full);
    }
    if (edit.position) {
        RESIDUA_TRY(canonical(*edit.position, placeOf(edit.graph, edit.node)));
    }
    place(document.layout, edit.graph, node.id, edit.position);
    const std::size_t index = std::min(edit.index, graph->nodes.size());
    graph->nodes.insert(graph->nodes.begin() + static_cast<std::ptrdiff_t>(index), std::move(node));
    moveSweptFields(document, {nodeList(document, edit.graph), index, ListChange::Kind::PutIn});
    return Done{};
}

Status applyTo(Document& document, const RemoveNode& edit)
{
    const auto found = RESIDUA_TRY(find(document, edit.graph, edit.node));
    Graph& graph = *found.graph;
    const auto at = graph.nodes.begin() + (found.node - graph.nodes.data());
    const auto index = static_cast<std::size_t>(at - graph.nodes.begin());
    graph.nodes.erase(at);
    std::erase_if(graph.wires, [&](const Wire& wire) { return touches(wire, edit.node); });
    place(document.layout, edit.graph, edit.node, std::nullopt);
    moveSweptFields(document, {nodeList(document, edit.graph), index, ListChange::Kind::TakenOut});
    return Done{};
}

Status applyTo(Document& document, const RenameNode& edit)
{
    const auto found = RESIDUA_TRY(find(document, edit.graph, edit.node));
    if (auto twin = twinOf(edit.graph, *found.graph, edit.name, edit.node)) {
        return *std::move(twin);
    }
    const std::string old = found.node->name;
    RESIDUA_TRY(put(found.node->name, edit.name, placeOf(edit.graph, *found.node) + " · name"));
    if (!edit.name.empty()) { // an empty name refers to no owner: nodes that share then name a missing node
        for (Node& node : found.graph->nodes) {
            if (!old.empty() && weightOwnerOf(node) == old) {
                node.params[kShareParam] = edit.name;
            }
        }
    }
    return Done{};
}

Status applyTo(Document& document, const SetParam& edit)
{
    const auto found = RESIDUA_TRY(find(document, edit.graph, edit.node));
    Node changed = *found.node;
    changed.params.erase(edit.param);
    if (edit.value) {
        changed.params.emplace(edit.param, *edit.value);
    }
    return put(*found.node, changed, placeOf(edit.graph, *found.node));
}

Status applyTo(Document& document, const AddWire& edit)
{
    Graph* const graph = RESIDUA_TRY(graphAt(document, edit.graph));
    const std::string where = placeOf(edit.graph, *graph, edit.wire);
    RESIDUA_TRY(canonical(edit.wire, where));
    const auto at = std::lower_bound(graph->wires.begin(), graph->wires.end(), edit.wire);
    if (at != graph->wires.end() && *at == edit.wire) {
        return Error{where, "is there already"};
    }
    if (auto full = fullError(graph->wires, placeOf(edit.graph), "wires")) {
        return *std::move(full);
    }
    graph->wires.insert(at, edit.wire);
    return Done{};
}

Status applyTo(Document& document, const RemoveWire& edit)
{
    Graph* const graph = RESIDUA_TRY(graphAt(document, edit.graph));
    if (std::erase(graph->wires, edit.wire) == 0) {
        return Error{placeOf(edit.graph, *graph, edit.wire), "is not there to be removed"};
    }
    return Done{};
}

Status applyTo(Document& document, const SetGraph& edit)
{
    Graph* const graph = RESIDUA_TRY(graphAt(document, edit.graph));
    RESIDUA_TRY(put(*graph, edit.value, placeOf(edit.graph) + " "));
    dropStrays(document, edit.graph);
    return Done{};
}

Status applyTo(Document& document, const MoveNode& edit)
{
    RESIDUA_TRY(find(document, edit.graph, edit.node));
    if (edit.position) {
        RESIDUA_TRY(canonical(*edit.position, placeOf(edit.graph)));
    }
    place(document.layout, edit.graph, edit.node, edit.position);
    return Done{};
}

Status applyTo(Document& document, const PutBlock& edit)
{
    auto block = RESIDUA_TRY(canonical(edit.block, placeOf(GraphRef::block(edit.block.name)) + " "));
    Network& network = document.project.network;
    const std::string name = block.name;
    if (Block* existing = network.findBlock(name)) {
        *existing = std::move(block);
        dropStrays(document, GraphRef::block(name));
        return Done{};
    }
    if (auto full = fullError(network.blocks, "network · blocks", "blocks")) {
        return *std::move(full);
    }
    const std::size_t index = std::min(edit.index, network.blocks.size());
    network.blocks.insert(network.blocks.begin() + static_cast<std::ptrdiff_t>(index), std::move(block));
    moveSweptFields(document, {kBlockList, index, ListChange::Kind::PutIn});
    return Done{};
}

Status applyTo(Document& document, const RemoveBlock& edit)
{
    Network& network = document.project.network;
    const Block* block = network.findBlock(edit.name);
    const GraphRef ref = GraphRef::block(edit.name);
    if (block == nullptr) {
        return noGraph(ref);
    }
    if (std::ranges::any_of(network.stack().segments,
                            [&](const StackSegment& segment) { return segment.block == edit.name; })) {
        return Error{placeOf(ref), "is what layers of the stack are made of; take them out first"};
    }
    const auto at = network.blocks.begin() + (block - network.blocks.data());
    const auto index = static_cast<std::size_t>(at - network.blocks.begin());
    network.blocks.erase(at);
    dropStrays(document, ref);
    moveSweptFields(document, {kBlockList, index, ListChange::Kind::TakenOut});
    return Done{};
}

Status applyTo(Document& document, const RenameBlock& edit)
{
    Network& network = document.project.network;
    const GraphRef from = GraphRef::block(edit.from);
    const GraphRef to = GraphRef::block(edit.to);
    Block* block = network.findBlock(edit.from);
    if (block == nullptr) {
        return noGraph(from);
    }
    if (edit.from != edit.to && network.findBlock(edit.to) != nullptr) {
        return Error{placeOf(to), "exists already; expected a name of its own"};
    }
    RESIDUA_TRY(put(block->name, edit.to, placeOf(from) + " · name"));
    for (StackSegment& segment : network.stack().segments) {
        if (segment.block == edit.from) {
            segment.block = edit.to;
        }
    }
    if (auto positions = document.layout.positions.extract(from)) {
        positions.key() = to;
        document.layout.positions.insert(std::move(positions));
    }
    return Done{};
}

} // namespace residua::projects
