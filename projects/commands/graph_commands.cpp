// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/commands/graph_commands.h"

#include "projects/base/text.h"
#include "projects/file/store.h"
#include "projects/nodes/node_kinds.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

namespace residua::projects {
namespace {

constexpr double kCopyOffset = 4 * kNodeGrid;

const Error kNoGraph{"clipboard", "there is no graph to add nodes to"};

std::string nameIn(const Document& document, const GraphRef& ref, NodeId id)
{
    const Graph* graph = findGraph(document.project, ref);
    const Node* node = graph != nullptr ? graph->find(id) : nullptr;
    return node != nullptr ? node->name : std::string("?");
}

Edit keepingPlaces(std::string title, const Document& document, const GraphView& seen, std::vector<Edit> edits,
                   const std::map<NodeId, Position>& moved = {})
{
    EditGroup group{std::move(title), keepPlaces(document, seen, moved)};
    std::ranges::move(edits, std::back_inserter(group.edits));
    return group;
}

/// True if the edit adds or removes nodes or wires of the graph.
bool reshapes(const Edit& edit, const GraphRef& graph)
{
    return std::visit(
        [&]<class E>(const E& e) {
            if constexpr (std::is_same_v<E, EditGroup>) {
                return std::ranges::any_of(e.edits, [&](const Edit& each) { return reshapes(each, graph); });
            } else if constexpr (std::is_same_v<E, AddNode> || std::is_same_v<E, RemoveNode> ||
                                 std::is_same_v<E, AddWire> || std::is_same_v<E, RemoveWire>) {
                return e.graph == graph;
            } else {
                return false;
            }
        },
        edit);
}

std::vector<Box> boxesOf(const GraphView& seen)
{
    std::vector<Box> boxes;
    for (const auto& [id, box] : seen.boxes) {
        boxes.push_back(box);
    }
    return boxes;
}

std::map<NodeId, Box> selectedBoxes(const Selection& selection, const GraphView& seen)
{
    std::map<NodeId, Box> boxes;
    for (const NodeId id : selection.nodes) {
        if (const auto found = seen.boxes.find(id); found != seen.boxes.end()) {
            boxes.emplace(*found);
        }
    }
    return boxes;
}

/// Returns the positions of the selected nodes, from the view or else from the document's layout.
std::map<NodeId, Position> placesOf(const Document& document, const Selection& selection, const GraphView& seen)
{
    std::map<NodeId, Position> places;
    const auto layout = document.layout.positions.find(selection.graph);
    for (const NodeId id : selection.nodes) {
        if (const auto box = seen.boxes.find(id); box != seen.boxes.end()) {
            places.emplace(id, box->second.corner());
        } else if (layout != document.layout.positions.end() && layout->second.contains(id)) {
            places.emplace(id, layout->second.at(id));
        }
    }
    return places;
}

// Returns the area of a fragment with nodes of the default size, because their sizes are not known yet.
std::optional<Box> areaOf(const BlockFile& fragment)
{
    std::optional<Box> area;
    for (const auto& [id, position] : fragment.positions) {
        const Box box = movedTo({0, 0, kNodeWidth, kNodeHeight}, position);
        area = area ? around(*area, box) : box;
    }
    return area;
}

Result<DocumentChange> insertNodes(const std::string& verb, const Document& document, const BlockFile& fragment,
                                   const GraphView& seen)
{
    const Graph* graph = findGraph(document.project, seen.graph);
    if (graph == nullptr) {
        return kNoGraph;
    }
    Position by;
    if (const auto area = areaOf(fragment)) {
        const Position middle = area->centre();
        const bool beside = !seen.inSight || seen.inSight->contains(middle);
        const Position aim = beside ? Position{middle.x + kCopyOffset, middle.y} : seen.inSight->centre();
        const Position wanted{area->left + aim.x - middle.x, area->top + aim.y - middle.y};
        const Position corner = freePlace(movedTo(*area, wanted), boxesOf(seen));
        by = {corner.x - area->left, corner.y - area->top};
    }
    Insertion insertion = insertEdits(*graph, seen.graph, fragment, by);
    if (insertion.nodes.empty()) {
        return Error{"clipboard", "holds no nodes of a block"};
    }
    return DocumentChange{keepingPlaces(verb + " " + countText(insertion.nodes.size(), "node"), document, seen,
                                        std::move(insertion.edits)),
                          Selection{.nodes = std::move(insertion.nodes), .graph = seen.graph}};
}

} // namespace

Result<DocumentChange> deleteNodes(const Document& document, const Selection& selection, const GraphView& seen)
{
    const std::size_t nodes = selection.nodes.size();
    if (nodes == 0 && selection.wires.empty()) {
        return Error{"selection", "no node and no wire is selected"};
    }
    const std::string what = nodes == 0   ? countText(selection.wires.size(), "wire")
                             : nodes == 1 ? nameIn(document, selection.graph, *selection.nodes.begin())
                                          : countText(nodes, "node");
    return DocumentChange{
        keepingPlaces("Delete " + what, document, seen, removeEdits(selection.graph, selection.nodes, selection.wires)),
        Selection{.graph = selection.graph}};
}

std::string copiedNodes(const Document& document, const Selection& selection, const GraphView& seen)
{
    const Graph* graph = findGraph(document.project, selection.graph);
    if (graph == nullptr || selection.nodes.empty()) {
        return {};
    }
    return toJson(fragmentOf(*graph, selection.nodes, placesOf(document, selection, seen)));
}

Result<DocumentChange> pasteNodes(const Document& document, std::string_view text, const GraphView& seen)
{
    const auto fragment = blockFromJson(text);
    if (!fragment) {
        return Error{"clipboard", "holds no nodes of a block"};
    }
    return insertNodes("Paste", document, *fragment, seen);
}

Result<DocumentChange> duplicateNodes(const Document& document, const Selection& selection, const GraphView& seen)
{
    const auto fragment = blockFromJson(copiedNodes(document, selection, seen));
    if (!fragment) {
        return Error{"selection", "no node is selected"};
    }
    return insertNodes("Duplicate", document, *fragment, seen);
}

Result<DocumentChange> addNode(const Document& document, const NodeOffer& offer, const std::optional<NodeSpot>& spot,
                               const GraphView& seen)
{
    const NodeKind* kind = findNodeKind(offer.kind);
    const Graph* graph = findGraph(document.project, seen.graph);
    if (kind == nullptr || graph == nullptr) {
        return kind == nullptr ? Error{"node", "“" + offer.kind + "” is no kind of node"} : kNoGraph;
    }
    Node node = newNode(*graph, offer.kind);
    node.params = offer.params;
    std::optional<Position> at;
    if (spot) {
        at = freePlace(nodeBoxAround(spot->centre), boxesOf(seen));
    }
    std::vector<Edit> edits{AddNode{seen.graph, node, at}};
    const std::optional<WireEnd> end = spot ? spot->end : std::nullopt;
    const std::vector<std::string> inputs = inputPortsOf(node, *graph);
    if (end && end->side == PortSide::Output && !inputs.empty()) {
        edits.emplace_back(AddWire{seen.graph, {end->port, {node.id, inputs.front()}}});
    } else if (end && end->side == PortSide::Input && !kind->outputs.empty()) {
        edits.emplace_back(AddWire{seen.graph, {{node.id, kind->outputs.front()}, end->port}});
    }
    return DocumentChange{keepingPlaces("Add " + node.name, document, seen, std::move(edits)),
                          Selection{.nodes = {node.id}, .graph = seen.graph}};
}

DocumentChange connectWire(const Document& document, const Wire& wire, const std::optional<Wire>& lifted,
                           const GraphView& seen)
{
    const Graph* graph = findGraph(document.project, seen.graph);
    const std::string title =
        "Wire " + nameIn(document, seen.graph, wire.from.node) + " to " + nameIn(document, seen.graph, wire.to.node);
    return {keepingPlaces(title, document, seen, wireEdits(*graph, seen.graph, wire, lifted)),
            Selection{.wires = {wire}, .graph = seen.graph}};
}

DocumentChange removeWire(const Document& document, const Wire& wire, const GraphView& seen)
{
    const std::string title = "Take out wire " + nameIn(document, seen.graph, wire.from.node) + " to " +
                              nameIn(document, seen.graph, wire.to.node);
    return {keepingPlaces(title, document, seen, removeEdits(seen.graph, {}, {wire}))};
}

Edit keepingPlaces(const Document& document, Edit edit, const GraphView& seen)
{
    if (!reshapes(edit, seen.graph)) {
        return edit;
    }
    std::string title = titleOf(edit);
    std::vector<Edit> edits;
    edits.push_back(std::move(edit));
    return keepingPlaces(std::move(title), document, seen, std::move(edits));
}

Result<DocumentChange> alignNodes(const Document& document, const Selection& selection, Alignment alignment,
                                  const GraphView& seen)
{
    const auto nodes = selectedBoxes(selection, seen);
    if (nodes.size() < 2) {
        return Error{"selection", "select two nodes or more to align them"};
    }
    return DocumentChange{
        keepingPlaces("Align " + countText(nodes.size(), "node"), document, seen, {}, aligned(nodes, alignment))};
}

Result<DocumentChange> moveNodes(const Document& document, const std::map<NodeId, Position>& to, const GraphView& seen)
{
    if (to.empty()) {
        return Error{"selection", "no node is selected"};
    }
    const std::string what =
        to.size() == 1 ? nameIn(document, seen.graph, to.begin()->first) : countText(to.size(), "node");
    return DocumentChange{keepingPlaces("Move " + what, document, seen, {}, to)};
}

DocumentChange tidyNodes(const Document& document, const std::map<NodeId, Position>& to, const GraphView& seen)
{
    return {keepingPlaces("Tidy up", document, seen, {}, to)};
}

} // namespace residua::projects
