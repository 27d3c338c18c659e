// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/block_scene.h"

#include "projects/base/ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ranges>

namespace residua::editor {
namespace {

using projects::NodeId;
using projects::PortRef;
using projects::Wire;

constexpr float kLineHeight = 28;
constexpr float kPortNames = 12;
constexpr double kFarthest = 1e5; ///< distance from the origin
constexpr float kPortReach = 10;  ///< distance at which the pointer grabs a port

float heightOf(const BlockNode& node)
{
    const float inside = node.form == BlockNode::Form::Line ? kLineHeight : BlockScene::kCardHeight;
    return inside + (node.namedPorts ? kPortNames : 0);
}

// Ports are symmetric and at multiples of the grid, so that the middle one of an odd number is centred.
float pitchOf(std::size_t ports)
{
    return ports == 2 ? 64.0F : ports == 3 ? 40.0F : 32.0F;
}

float widthOf(const BlockNode& node)
{
    const std::size_t ports = std::max(node.inputs.size(), node.outputs.size());
    return std::max(BlockScene::kNodeWidth, pitchOf(ports) * static_cast<float>(ports));
}

float portOffset(const BlockNode& node, const std::vector<BlockPort>& ports, std::size_t index)
{
    const float fromMiddle = static_cast<float>(index) - static_cast<float>(ports.size() - 1) / 2;
    return widthOf(node) / 2 + fromMiddle * pitchOf(ports.size());
}

/// Limits the position to numbers that a float holds with pixel precision. A file may contain any number.
Point pointOf(const projects::Position& position)
{
    const auto near = [](double at) { return static_cast<float>(std::clamp(at, -kFarthest, kFarthest)); };
    return {near(position.x), near(position.y)};
}

const BlockPort* portNamed(const std::vector<BlockPort>& ports, const std::string& name)
{
    const auto found = std::ranges::find(ports, name, &BlockPort::name);
    return found == ports.end() ? nullptr : &*found;
}

std::size_t indexOf(const std::vector<BlockPort>& ports, const std::string& name)
{
    return static_cast<std::size_t>(std::ranges::find(ports, name, &BlockPort::name) - ports.begin());
}

} // namespace

void BlockScene::rebuild(const projects::Document& document, const projects::GraphRef& graph)
{
    if (graph != m_graph) {
        m_graph = graph;
        m_places.clear();
    }
    BlockContents contents = describeBlock(document.project, graph);
    m_nodes = std::move(contents.nodes);
    m_shapes = std::move(contents.shapes);
    m_index.clear();
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
        m_index.emplace(m_nodes[i].id, i);
    }
    m_wires.clear();
    std::set<PortRef> labelled;
    if (const projects::Graph* known = findGraph(document.project, graph)) {
        for (const Wire& wire : known->wires) {
            // A wire with a missing end is not drawn. It is in the list of problems.
            if (port(wire.from, projects::PortSide::Output) == nullptr ||
                port(wire.to, projects::PortSide::Input) == nullptr) {
                continue;
            }
            const projects::Shape* shape = shapeOf(wire.from);
            const auto fault = contents.faultyPorts.find(wire.to);
            m_wires.push_back({wire,
                               {},
                               shape != nullptr ? shortText(*shape) : std::string{},
                               fault == contents.faultyPorts.end() ? std::string{} : fault->second,
                               labelled.insert(wire.from).second});
        }
    }
    place(document.layout);
    route();
}

void BlockScene::place(const projects::Layout& layout)
{
    m_pinned.clear();
    const auto found = layout.positions.find(m_graph);
    if (found != layout.positions.end()) {
        for (const auto& [id, position] : found->second) {
            if (const auto at = m_index.find(id); at != m_index.end()) {
                m_pinned.insert(id);
                putAt(m_nodes[at->second], pointOf(position));
            }
        }
    }
    if (m_pinned.empty() && m_places.empty()) {
        m_places = tidied();
    }
    std::vector<std::size_t> late;
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
        const auto at = m_places.find(m_nodes[i].id);
        if (m_pinned.contains(m_nodes[i].id)) {
            continue;
        }
        if (at == m_places.end()) {
            late.push_back(i);
        } else {
            putAt(m_nodes[i], at->second);
        }
    }
    placeLate(late);
}

void BlockScene::putAt(BlockNode& node, Point corner) const
{
    node.rect = {corner.x, corner.y, corner.x + widthOf(node), corner.y + heightOf(node)};
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        node.inputs[i].at = {corner.x + portOffset(node, node.inputs, i), node.rect.bottom};
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        node.outputs[i].at = {corner.x + portOffset(node, node.outputs, i), node.rect.top};
    }
}

// Places nodes without a position: above those that feed them, else below those that they feed, else beside all others.
void BlockScene::placeLate(const std::vector<std::size_t>& late)
{
    std::vector<projects::Box> taken;
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
        if (std::ranges::find(late, i) == late.end()) {
            taken.push_back(boxOf(m_nodes[i].rect));
        }
    }
    // Returns the node at the other end of the first such wire of `node` that has a position.
    const auto placed = [&](PortRef Wire::*own, NodeId node, PortRef Wire::*other) -> const BlockNode* {
        for (const BlockWire& each : m_wires) {
            const std::size_t found = m_index.at((each.wire.*other).node);
            if ((each.wire.*own).node == node && std::ranges::find(late, found) == late.end()) {
                return &m_nodes[found];
            }
        }
        return nullptr;
    };
    for (const std::size_t i : late) {
        BlockNode& node = m_nodes[i];
        const float width = widthOf(node);
        const float height = heightOf(node);
        Rect wanted{0, -height, width, 0};
        if (!taken.empty()) {
            const Rect all = rectOf(std::accumulate(taken.begin() + 1, taken.end(), taken.front(), projects::around));
            wanted = {all.right + kBlockRowGap, all.bottom - height, all.right + kBlockRowGap + width, all.bottom};
        }
        const BlockNode* below = placed(&Wire::to, node.id, &Wire::from);
        const BlockNode* near = below != nullptr ? below : placed(&Wire::from, node.id, &Wire::to);
        if (near != nullptr) {
            const float left = near->rect.centre().x - width / 2;
            const float top =
                below != nullptr ? near->rect.top - kBlockRowGap - height : near->rect.bottom + kBlockRowGap;
            wanted = {left, top, left + width, top + height};
        }
        const Point at = pointOf(freePlace(boxOf(wanted), taken));
        m_places[node.id] = at;
        putAt(node, at);
        taken.push_back(boxOf(node.rect));
    }
}

void BlockScene::route()
{
    auto boxes = mapped<std::vector<Rect>>(m_nodes, &BlockNode::rect);
    std::map<PortRef, std::size_t> groups;
    std::vector<RouteEnds> ends;
    for (const BlockWire& wire : m_wires) {
        const std::size_t group = groups.emplace(wire.wire.from, groups.size()).first->second;
        ends.push_back({port(wire.wire.from, projects::PortSide::Output)->at,
                        port(wire.wire.to, projects::PortSide::Input)->at, group});
    }
    // Routes are kept if only texts have changed.
    if (boxes != m_routedBoxes || ends != m_routedEnds) {
        m_paths = routeWires(boxes, ends);
        m_routedBoxes = std::move(boxes);
        m_routedEnds = std::move(ends);
    }
    for (std::size_t i = 0; i < m_wires.size(); ++i) {
        m_wires[i].path = m_paths[i];
    }
}

std::map<NodeId, Point> BlockScene::tidied() const
{
    auto boxes = mapped<std::vector<LayoutBox>>(m_nodes, [&](const BlockNode& node) {
        return LayoutBox{widthOf(node), heightOf(node)};
    });
    std::vector<LayoutWire> layoutWires;
    for (const BlockWire& wire : m_wires) {
        const std::size_t from = m_index.at(wire.wire.from.node);
        const std::size_t to = m_index.at(wire.wire.to.node);
        const BlockNode& source = m_nodes[from];
        const BlockNode& target = m_nodes[to];
        layoutWires.push_back({from, portOffset(source, source.outputs, indexOf(source.outputs, wire.wire.from.port)),
                               to, portOffset(target, target.inputs, indexOf(target.inputs, wire.wire.to.port))});
    }
    const std::vector<Point> corners = layoutBlock(boxes, layoutWires);
    std::map<NodeId, Point> places;
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
        places.emplace(m_nodes[i].id, corners[i]);
    }
    return places;
}

void BlockScene::shift(const std::set<NodeId>& nodes, Point by)
{
    for (BlockNode& node : m_nodes) {
        if (nodes.contains(node.id)) {
            putAt(node, {node.rect.left + by.x, node.rect.top + by.y});
        }
    }
    route();
}

const BlockNode* BlockScene::node(NodeId id) const
{
    const auto found = m_index.find(id);
    return found == m_index.end() ? nullptr : &m_nodes[found->second];
}

const BlockWire* BlockScene::wire(const Wire& wire) const
{
    const auto found = std::ranges::find(m_wires, wire, &BlockWire::wire);
    return found == m_wires.end() ? nullptr : &*found;
}

const BlockPort* BlockScene::port(const PortRef& port, projects::PortSide side) const
{
    const BlockNode* owner = node(port.node);
    return owner == nullptr ? nullptr
                            : portNamed(side == projects::PortSide::Input ? owner->inputs : owner->outputs, port.port);
}

const projects::Shape* BlockScene::shapeOf(const PortRef& output) const
{
    const auto found = m_shapes.find(output);
    return found == m_shapes.end() ? nullptr : &found->second;
}

Rect BlockScene::bounds() const
{
    std::optional<Rect> all;
    for (const BlockNode& node : m_nodes) {
        include(all, node.rect);
    }
    for (const BlockWire& wire : m_wires) {
        for (const Point p : wire.path) {
            include(all, {p.x, p.y, p.x, p.y});
        }
    }
    return all.value_or(Rect{-kNodeWidth / 2, -kCardHeight, kNodeWidth / 2, 0});
}

BlockHit BlockScene::hitTest(Point point, float tolerance) const
{
    const float reach = std::max(kPortReach, tolerance);
    BlockHit hit;
    float nearest = reach;
    for (const BlockNode& node : m_nodes) {
        for (const projects::PortSide side : {projects::PortSide::Input, projects::PortSide::Output}) {
            for (const BlockPort& port : side == projects::PortSide::Input ? node.inputs : node.outputs) {
                const float distance = std::hypot(point.x - port.at.x, point.y - port.at.y);
                if (distance <= nearest) {
                    nearest = distance;
                    hit = {BlockHit::Kind::Port, node.id, side, port.name, {}};
                }
            }
        }
    }
    if (hit.kind != BlockHit::Kind::Nothing) {
        return hit;
    }
    for (auto node = m_nodes.rbegin(); node != m_nodes.rend(); ++node) {
        if (node->rect.contains(point)) {
            return {BlockHit::Kind::Node, node->id, projects::PortSide::Input, {}, {}};
        }
    }
    nearest = tolerance;
    for (const BlockWire& wire : m_wires) {
        if (const float distance = distanceTo(wire.path, point); distance <= nearest) {
            nearest = distance;
            hit = {BlockHit::Kind::Wire, {}, projects::PortSide::Input, {}, wire.wire};
        }
    }
    return hit;
}

std::vector<NodeId> BlockScene::nodesIn(const Rect& area) const
{
    return mapped<std::vector<NodeId>>(
        m_nodes | std::views::filter([&](const BlockNode& node) { return node.rect.overlaps(area); }), &BlockNode::id);
}

std::vector<Wire> BlockScene::wiresIn(const Rect& area) const
{
    std::vector<Wire> found;
    for (const BlockWire& wire : m_wires) {
        // Only wires that are wholly inside, because a box over nodes should not select every wire that passes.
        if (std::ranges::all_of(wire.path, [&](Point p) { return area.contains(p); })) {
            found.push_back(wire.wire);
        }
    }
    return found;
}

std::optional<NodeId> BlockScene::neighbour(NodeId from, Direction direction) const
{
    const BlockNode* start = node(from);
    if (start == nullptr) {
        return std::nullopt;
    }
    const Point at = start->rect.centre();
    std::optional<NodeId> best;
    float nearest = std::numeric_limits<float>::max();
    const auto consider = [&](NodeId id, float distance) {
        if (distance < nearest) {
            nearest = distance;
            best = id;
        }
    };
    if (direction == Direction::Up || direction == Direction::Down) {
        for (const BlockWire& each : m_wires) {
            const NodeId own = direction == Direction::Up ? each.wire.from.node : each.wire.to.node;
            const NodeId other = direction == Direction::Up ? each.wire.to.node : each.wire.from.node;
            if (own == from) {
                const Point there = node(other)->rect.centre();
                consider(other, std::abs(there.x - at.x) + std::abs(there.y - at.y));
            }
        }
        return best;
    }
    for (const BlockNode& other : m_nodes) {
        const Point there = other.rect.centre();
        const float ahead = direction == Direction::Right ? there.x - at.x : at.x - there.x;
        if (ahead > 1) {
            consider(other.id, ahead + 4 * std::abs(there.y - at.y));
        }
    }
    return best;
}

projects::GraphView viewOf(const BlockScene& scene, const std::optional<Rect>& inSight)
{
    projects::GraphView view{scene.graph(), {}, inSight ? std::optional(boxOf(*inSight)) : std::nullopt};
    for (const BlockNode& node : scene.nodes()) {
        view.boxes.emplace(node.id, boxOf(node.rect));
    }
    return view;
}

} // namespace residua::editor
