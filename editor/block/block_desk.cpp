// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/block/block_desk.h"

#include "editor/block/block_layout.h"
#include "projects/nodes/node_kinds.h"

#include <algorithm>
#include <iterator>

namespace residua::editor {
namespace {

using projects::Edit;
using projects::GraphRef;
using projects::NodeId;
using projects::Wire;

constexpr float kCopyOffset = 4 * kBlockGrid;

std::string counted(std::size_t count, const std::string& noun)
{
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

GraphRef graphOfLayer(const projects::Network& network, std::int64_t layer)
{
    if (layer == 0) {
        return "stem";
    }
    if (layer > network.depth()) {
        return "head";
    }
    const projects::Block* block = network.blockOfLayer(layer);
    return block != nullptr ? "block:" + block->name : GraphRef{};
}

Rect around(const Rect& a, const Rect& b)
{
    return {std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right), std::max(a.bottom, b.bottom)};
}

// What a fragment covers; the sizes of its nodes are not known yet.
std::optional<Rect> areaOf(const projects::BlockFile& fragment)
{
    std::optional<Rect> area;
    for (const auto& [id, position] : fragment.positions) {
        const auto x = static_cast<float>(position.x);
        const auto y = static_cast<float>(position.y);
        const Rect box{x, y, x + BlockScene::kNodeWidth, y + BlockScene::kCardHeight};
        area = area ? around(*area, box) : box;
    }
    return area;
}

} // namespace

bool BlockDesk::setDocument(const projects::Document& document)
{
    if (document == m_document && !ref().empty()) {
        return false;
    }
    const GraphRef known = refIn(document.project);
    m_document = document;
    open(known);
    std::erase_if(m_selection.nodes, [this](NodeId id) { return m_scene.node(id) == nullptr; });
    std::erase_if(m_selection.wires, [this](const Wire& wire) { return m_scene.wire(wire) == nullptr; });
    return true;
}

// A block that was renamed stays open.
GraphRef BlockDesk::refIn(const projects::Project& project) const
{
    if (findGraph(project, ref()) != nullptr) {
        return ref();
    }
    if (const projects::Graph* shown = findGraph(m_document.project, ref())) {
        const auto& blocks = project.network.blocks;
        const auto same = std::ranges::find(blocks, *shown, &projects::Block::graph);
        if (same != blocks.end()) {
            return "block:" + same->name;
        }
    }
    const GraphRef first = graphOfLayer(project.network, 1);
    return findGraph(project, first) != nullptr ? first : GraphRef("stem");
}

void BlockDesk::open(const GraphRef& known)
{
    if (known != ref()) {
        m_opened = true;
        m_selection = {};
    }
    m_scene.rebuild(m_document, known);
}

void BlockDesk::setSelection(const Selection& selection)
{
    const bool layer = selection.graph.empty() && selection.layers.size() == 1;
    const GraphRef meant = layer ? graphOfLayer(project().network, *selection.layers.begin()) : selection.graph;
    if (meant != ref() && findGraph(project(), meant) != nullptr) {
        open(meant);
    }
    m_selection = {};
    m_selection.graph = ref();
    if (selection.graph == ref()) {
        std::ranges::copy_if(selection.nodes, std::inserter(m_selection.nodes, m_selection.nodes.end()),
                             [this](NodeId id) { return m_scene.node(id) != nullptr; });
        std::ranges::copy_if(selection.wires, std::inserter(m_selection.wires, m_selection.wires.end()),
                             [this](const Wire& wire) { return m_scene.wire(wire) != nullptr; });
    }
}

void BlockDesk::edit(std::string title, std::vector<Edit> edits, const std::map<NodeId, Point>& moved)
{
    projects::EditGroup group{std::move(title), m_scene.pins(moved)};
    std::ranges::move(edits, std::back_inserter(group.edits));
    request(RequestEdit{std::move(group)});
}

void BlockDesk::select(std::set<NodeId> nodes, std::set<Wire> wires)
{
    Selection selection;
    selection.nodes = std::move(nodes);
    selection.wires = std::move(wires);
    selection.graph = ref();
    if (selection != m_selection) {
        m_selection = std::move(selection);
        request(SelectionChanged{m_selection});
    }
}

void BlockDesk::selectAll()
{
    std::set<NodeId> nodes;
    for (const BlockNode& node : m_scene.nodes()) {
        nodes.insert(node.id);
    }
    select(std::move(nodes));
}

void BlockDesk::step(Direction direction)
{
    if (m_scene.nodes().empty()) {
        return;
    }
    if (m_selection.nodes.empty()) {
        select({m_scene.nodes().front().id});
    } else if (const auto next = m_scene.neighbour(*m_selection.nodes.begin(), direction)) {
        select({*next});
    }
}

void BlockDesk::remove()
{
    const std::size_t nodes = m_selection.nodes.size();
    if (nodes == 0 && m_selection.wires.empty()) {
        return;
    }
    const std::string what = nodes == 0   ? counted(m_selection.wires.size(), "wire")
                             : nodes == 1 ? nameOf(*m_selection.nodes.begin())
                                          : counted(nodes, "node");
    edit("Delete " + what, removeEdits(ref(), m_selection.nodes, m_selection.wires));
    select({});
}

std::vector<Rect> BlockDesk::boxes() const
{
    std::vector<Rect> rects;
    for (const BlockNode& node : m_scene.nodes()) {
        rects.push_back(node.rect);
    }
    return rects;
}

std::map<NodeId, Rect> BlockDesk::selectedBoxes() const
{
    std::map<NodeId, Rect> rects;
    for (const NodeId id : m_selection.nodes) {
        if (const BlockNode* node = m_scene.node(id)) { // one that was just asked for is not there yet
            rects.emplace(id, node->rect);
        }
    }
    return rects;
}

std::optional<Rect> BlockDesk::selectedArea() const
{
    std::optional<Rect> area;
    for (const auto& [id, rect] : selectedBoxes()) {
        area = area ? around(*area, rect) : rect;
    }
    return area;
}

std::string BlockDesk::copied() const
{
    std::map<NodeId, Point> places;
    for (const auto& [id, rect] : selectedBoxes()) {
        places.emplace(id, Point{rect.left, rect.top});
    }
    return places.empty() ? std::string{} : toJson(fragmentOf(graph(), m_selection.nodes, places));
}

Status BlockDesk::paste(std::string_view text, const Rect& seen)
{
    const auto fragment = projects::blockFromJson(text);
    if (!fragment) {
        return Error{"clipboard", "holds no nodes of a block"};
    }
    insert("Paste " + counted(fragment->block.graph.nodes.size(), "node"), *fragment, seen);
    return Done{};
}

void BlockDesk::duplicate(const Rect& seen)
{
    if (const auto fragment = projects::blockFromJson(copied())) {
        insert("Duplicate " + counted(fragment->block.graph.nodes.size(), "node"), *fragment, seen);
    }
}

void BlockDesk::insert(std::string title, const projects::BlockFile& fragment, const Rect& seen)
{
    Point by;
    if (const auto area = areaOf(fragment)) {
        const Point middle = area->centre();
        const Point aim = seen.contains(middle) ? Point{middle.x + kCopyOffset, middle.y} : seen.centre();
        const float dx = aim.x - middle.x;
        const float dy = aim.y - middle.y;
        const Point corner = freePlace({area->left + dx, area->top + dy, area->right + dx, area->bottom + dy}, boxes());
        by = {corner.x - area->left, corner.y - area->top};
    }
    Insertion insertion = insertEdits(graph(), ref(), fragment, by);
    if (!insertion.nodes.empty()) {
        edit(std::move(title), std::move(insertion.edits));
        select(std::move(insertion.nodes));
    }
}

void BlockDesk::tidy()
{
    edit("Tidy up", {}, m_scene.tidied());
}

void BlockDesk::align(Alignment alignment)
{
    if (const auto nodes = selectedBoxes(); nodes.size() > 1) {
        edit("Align " + counted(nodes.size(), "node"), {}, aligned(nodes, alignment));
    }
}

void BlockDesk::moveSelected()
{
    std::map<NodeId, Point> moved;
    for (const auto& [id, rect] : selectedBoxes()) {
        moved.emplace(id, Point{rect.left, rect.top});
    }
    if (!moved.empty()) {
        edit("Move " + (moved.size() == 1 ? nameOf(moved.begin()->first) : counted(moved.size(), "node")), {}, moved);
    }
}

void BlockDesk::add(const NodeOffer& offer, Point centre, const std::optional<WireEnd>& end)
{
    const projects::NodeKind* kind = projects::findNodeKind(offer.kind);
    if (kind == nullptr) {
        return;
    }
    projects::Node node = newNode(graph(), offer.kind);
    node.params = offer.params;
    const Point half{BlockScene::kNodeWidth / 2, BlockScene::kCardHeight / 2};
    const Point at = freePlace({centre.x - half.x, centre.y - half.y, centre.x + half.x, centre.y + half.y}, boxes());
    std::vector<Edit> edits{projects::AddNode{ref(), node, projects::Position{at.x, at.y}}};
    const std::vector<std::string> inputs = inputPortsOf(node, graph());
    if (end && end->side == PortSide::Output && !inputs.empty()) {
        edits.emplace_back(projects::AddWire{ref(), {end->port, {node.id, inputs.front()}}});
    } else if (end && end->side == PortSide::Input && !kind->outputs.empty()) {
        edits.emplace_back(projects::AddWire{ref(), {{node.id, kind->outputs.front()}, end->port}});
    }
    edit("Add " + node.name, std::move(edits));
    select({node.id});
}

void BlockDesk::connect(const Wire& wire, const std::optional<Wire>& lifted)
{
    edit("Wire " + nameOf(wire.from.node) + " to " + nameOf(wire.to.node), wireEdits(graph(), ref(), wire, lifted));
    select({}, {wire});
}

void BlockDesk::takeOut(const Wire& wire)
{
    edit("Take out wire " + nameOf(wire.from.node) + " to " + nameOf(wire.to.node), removeEdits(ref(), {}, {wire}));
}

} // namespace residua::editor
