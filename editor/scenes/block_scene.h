// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/block_layout.h"
#include "editor/scenes/block_node.h"
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
    std::vector<Point> path; ///< from the output upwards, with horizontal and vertical pieces
    std::string shape;       ///< "[B, T, 256]"; empty if unknown
    std::string error;       ///< the reason why its target rejects it; empty if it does not
    bool labelled = false;   ///< true if the shape is written on this wire of its output
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

/// The thing under a point of a block.
struct BlockHit {
    enum class Kind { Nothing, Node, Port, Wire };
    Kind kind = Kind::Nothing;
    projects::NodeId node{}; ///< for a Node or a Port
    projects::PortSide side = projects::PortSide::Input;
    std::string port;
    projects::Wire wire;
};

enum class Direction { Up, Down, Left, Right };

/// The inside of a block, stem or head without a window: nodes, their positions, ports and wires. Units are logical
/// pixels at zoom 1, y grows downwards. Data flows upwards, as in the papers' figures. A node is at its position in the
/// document's layout, else where this scene placed it first, so that an edit of one node moves no other.
class BlockScene {
public:
    static constexpr float kPortRadius = 4;

    /// Shows a graph of the document. If it is another graph than before, all positions are computed anew.
    void rebuild(const projects::Document& document, const projects::GraphRef& graph);
    /// Renames the graph that is shown, so that the next rebuild() treats it as the same graph.
    void setGraphName(const projects::GraphRef& graph) { m_graph = graph; }

    [[nodiscard]] const projects::GraphRef& graph() const { return m_graph; }
    [[nodiscard]] const std::vector<BlockNode>& nodes() const { return m_nodes; }
    [[nodiscard]] const std::vector<BlockWire>& wires() const { return m_wires; }
    [[nodiscard]] const BlockNode* node(projects::NodeId id) const;
    [[nodiscard]] const BlockWire* wire(const projects::Wire& wire) const;
    [[nodiscard]] const BlockPort* port(const projects::PortRef& port, projects::PortSide side) const;
    [[nodiscard]] const projects::Shape* shapeOf(const projects::PortRef& output) const;
    [[nodiscard]] Rect bounds() const;

    /// Returns the thing under a point: a port before a node before a wire. `tolerance` is in scene units.
    [[nodiscard]] BlockHit hitTest(Point point, float tolerance) const;
    [[nodiscard]] std::vector<projects::NodeId> nodesIn(const Rect& area) const;
    [[nodiscard]] std::vector<projects::Wire> wiresIn(const Rect& area) const;
    /// Returns the next node along the wires (up: its readers; down: its sources), or in its row.
    [[nodiscard]] std::optional<projects::NodeId> neighbour(projects::NodeId from, Direction direction) const;

    /// Shows `nodes` moved by `by` until the next rebuild.
    void shift(const std::set<projects::NodeId>& nodes, Point by);
    /// Returns the position of every node in the automatic layout.
    [[nodiscard]] std::map<projects::NodeId, Point> tidied() const;

    static constexpr float kNodeWidth = projects::kNodeWidth; ///< minimum
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
    std::map<projects::NodeId, Point> m_places; ///< of nodes without a position in the document, since they were added
    std::set<projects::NodeId> m_pinned;        ///< nodes with a position in the document
    std::map<projects::NodeId, std::size_t> m_index;
    std::vector<Rect> m_routedBoxes; ///< the boxes that m_paths go around; m_routedEnds are their ends
    std::vector<RouteEnds> m_routedEnds;
    std::vector<std::vector<Point>> m_paths;
};

/// Returns the visible positions of the nodes and the visible part of the graph.
[[nodiscard]] projects::GraphView viewOf(const BlockScene& scene, const std::optional<Rect>& inSight = {});

} // namespace residua::editor
