// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/block/block_node.h"
#include "editor/block/block_router.h"
#include "projects/graphs/graph_edits.h"
#include "projects/graphs/node_places.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace residua::editor {

/// A wire as it is drawn.
struct BlockWire {
    projects::Wire wire;
    std::vector<Point> path; ///< from the output upwards; pieces are level or upright
    std::string shape;       ///< "[B, T, 256]"; empty where it cannot be known
    std::string error;       ///< why its target cannot take it; empty where it can
    bool labelled = false;   ///< the one of its output's wires on which the shape is written
};

[[nodiscard]] inline projects::Position positionOf(Point at)
{
    return {at.x, at.y};
}
[[nodiscard]] inline projects::Box boxOf(const Rect& rect)
{
    return {rect.left, rect.top, rect.right, rect.bottom};
}
[[nodiscard]] inline Rect rectOf(const projects::Box& box)
{
    return {static_cast<float>(box.left), static_cast<float>(box.top), static_cast<float>(box.right),
            static_cast<float>(box.bottom)};
}

/// What lies under a point of a block.
struct BlockHit {
    enum class Kind { Nothing, Node, Port, Wire };
    Kind kind = Kind::Nothing;
    projects::NodeId node{}; ///< of a Node or a Port
    projects::PortSide side = projects::PortSide::Input;
    std::string port;
    projects::Wire wire;
};

enum class Direction { Up, Down, Left, Right };

/// The inside of a block, stem or head without a window: nodes, their places, ports and wires. Units are logical
/// pixels at zoom 1, y grows downwards; what flows, flows upwards, as in the papers' figures. A node stands where the
/// document's layout says, else where this scene once put it: an edit of one node moves no other.
class BlockScene {
public:
    static constexpr float kPortRadius = 4;

    /// Takes up a graph of the document; for another graph than before all places are made anew.
    void rebuild(const projects::Document& document, const projects::GraphRef& graph);
    /// The graph that is shown has this name now: the next rebuild() takes it for the same one.
    void setGraphName(const projects::GraphRef& graph) { m_graph = graph; }

    [[nodiscard]] const projects::GraphRef& graph() const { return m_graph; }
    [[nodiscard]] const std::vector<BlockNode>& nodes() const { return m_nodes; }
    [[nodiscard]] const std::vector<BlockWire>& wires() const { return m_wires; }
    [[nodiscard]] const BlockNode* node(projects::NodeId id) const;
    [[nodiscard]] const BlockWire* wire(const projects::Wire& wire) const;
    [[nodiscard]] const BlockPort* port(const projects::PortRef& port, projects::PortSide side) const;
    [[nodiscard]] const projects::Shape* shapeOf(const projects::PortRef& output) const;
    [[nodiscard]] Rect bounds() const;

    /// What lies under a point: a port before a node before a wire; `tolerance` in scene units.
    [[nodiscard]] BlockHit hitTest(Point point, float tolerance) const;
    [[nodiscard]] std::vector<projects::NodeId> nodesIn(const Rect& area) const;
    [[nodiscard]] std::vector<projects::Wire> wiresIn(const Rect& area) const;
    /// The next node along the wires (up: what reads it; down: what it reads), or in its row.
    [[nodiscard]] std::optional<projects::NodeId> neighbour(projects::NodeId from, Direction direction) const;

    /// Shows `nodes` moved by `by` until the next rebuild.
    void shift(const std::set<projects::NodeId>& nodes, Point by);
    /// Where the automatic layout would put every node.
    [[nodiscard]] std::map<projects::NodeId, Point> tidied() const;

    static constexpr float kNodeWidth = projects::kNodeWidth; ///< at least
    static constexpr float kCardHeight = projects::kNodeHeight;

private:
    void place(const projects::Layout& layout);
    void putAt(BlockNode& node, Point corner) const;
    void placeLate(const std::vector<std::size_t>& late);
    void route();

    projects::GraphRef m_graph;
    std::vector<BlockNode> m_nodes;
    std::vector<BlockWire> m_wires;
    std::map<projects::PortRef, projects::Shape> m_shapes;
    std::map<projects::NodeId, Point> m_places; ///< of nodes without a place in the document, ever since they came
    std::set<projects::NodeId> m_pinned;        ///< nodes with one
    std::map<projects::NodeId, std::size_t> m_index;
    std::vector<Rect> m_routedBoxes; ///< what m_paths goes around, and between which ends
    std::vector<RouteEnds> m_routedEnds;
    std::vector<std::vector<Point>> m_paths;
};

/// Where its nodes are seen, and what of the graph is in sight.
[[nodiscard]] projects::GraphView viewOf(const BlockScene& scene, const std::optional<Rect>& inSight = {});

} // namespace residua::editor
