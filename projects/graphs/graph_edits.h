// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/file/store.h"
#include "projects/nodes/shape.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

// Edits of the graph of a block, stem or head.
namespace residua::projects {

/// Returns a node of `kind` with an id and a name that are free in `graph`.
[[nodiscard]] Node newNode(const Graph& graph, const std::string& kind);

enum class PortSide { Input, Output };

/// One end of a wire that is being drawn.
struct WireEnd {
    PortRef port;
    PortSide side = PortSide::Output;
};

/// Returns the port for a wire that is dropped on a node: its first unwired input, else its first input; or its first
/// output. Returns nullopt if it has none.
[[nodiscard]] std::optional<PortRef> portFor(const Graph& graph, NodeId node, PortSide side);

/// The effect that drawing a wire would have on the graph.
struct WireCheck {
    bool possible = false; ///< true if it may be drawn: it is new, makes no cycle and joins two nodes
    bool fits = false;     ///< and the target accepts its value
    std::string carries;   ///< shape of its value, "[batch, time, 256]"; empty if unknown
    std::string message;   ///< the reason why not, or the wire that it replaces
};
[[nodiscard]] WireCheck checkWire(const Project& project, const GraphRef& ref, const Wire& wire);
/// Adds `wire`. Removes the wire that the input had before, and `instead`, the wire that was picked up.
[[nodiscard]] std::vector<Edit> wireEdits(const Graph& graph, const GraphRef& ref, const Wire& wire,
                                          const std::optional<Wire>& instead = {});

/// Removes nodes (with their wires) and wires.
[[nodiscard]] std::vector<Edit> removeEdits(const GraphRef& ref, const std::set<NodeId>& nodes,
                                            const std::set<Wire>& wires);

/// Returns the nodes with the wires among them and their positions.
[[nodiscard]] BlockFile fragmentOf(const Graph& graph, const std::set<NodeId>& nodes,
                                   const std::map<NodeId, Position>& places);
/// Inserts a fragment, moved by `by`. Its nodes get new ids and names; its wires and shared weights refer to the new
/// nodes.
struct Insertion {
    std::vector<Edit> edits;
    std::set<NodeId> nodes; ///< the new nodes
};
[[nodiscard]] Insertion insertEdits(const Graph& graph, const GraphRef& ref, const BlockFile& fragment, Position by);

} // namespace residua::projects
