// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/file/block_file.h"
#include "projects/nodes/shape.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

// What may be done to the graph of a block, stem or head, as edits of the document.
namespace residua::projects {

/// A node of `kind` with an id and a name that are free in `graph`.
[[nodiscard]] Node newNode(const Graph& graph, const std::string& kind);

enum class PortSide { Input, Output };

/// An end of a wire, while the other is looked for.
struct WireEnd {
    PortRef port;
    PortSide side = PortSide::Output;
};

/// The port that is meant where a wire is let go on a node: its first input that waits for a wire, else its first; or
/// its first output. nullopt where it has none.
[[nodiscard]] std::optional<PortRef> portFor(const Graph& graph, NodeId node, PortSide side);

/// What drawing a wire would make of the graph.
struct WireCheck {
    bool possible = false; ///< it may be drawn: not onto itself, not in a circle, not there already
    bool fits = false;     ///< and its target can take what it carries
    std::string carries;   ///< "[batch, time, 256]"; empty where it is not known
    std::string message;   ///< why not; or what it takes the place of
};
[[nodiscard]] WireCheck checkWire(const Project& project, const GraphRef& ref, const Wire& wire);
/// Adds `wire`; an input takes one, so what it read before goes, and so does `instead`, the wire that was picked up.
[[nodiscard]] std::vector<Edit> wireEdits(const Graph& graph, const GraphRef& ref, const Wire& wire,
                                          const std::optional<Wire>& instead = {});

/// Takes nodes (with their wires) and wires out.
[[nodiscard]] std::vector<Edit> removeEdits(const GraphRef& ref, const std::set<NodeId>& nodes,
                                            const std::set<Wire>& wires);

/// The nodes with the wires among them and their places.
[[nodiscard]] BlockFile fragmentOf(const Graph& graph, const std::set<NodeId>& nodes,
                                   const std::map<NodeId, Position>& places);
/// Adds a fragment, moved by `by`: its nodes get ids and names of their own, its wires and shared weights follow them.
struct Insertion {
    std::vector<Edit> edits;
    std::set<NodeId> nodes; ///< the new ones
};
[[nodiscard]] Insertion insertEdits(const Graph& graph, const GraphRef& ref, const BlockFile& fragment, Position by);

} // namespace residua::projects
