// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/commands/commands.h"
#include "projects/graphs/graph_edits.h"
#include "projects/graphs/node_places.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

// Commands in the graph of a block, stem or head. Each returns one edit with a title, which also keeps the visible
// positions of all other nodes. `seen` selects the graph, which is that of the selection.
namespace residua::projects {

/// The position of a new node, and the end that it is wired to.
struct NodeSpot {
    Position centre;
    std::optional<WireEnd> end = {};
};

/// Removes the selected nodes with their wires, and the selected wires.
[[nodiscard]] Result<DocumentChange> deleteNodes(const Document& document, const Selection& selection,
                                                 const GraphView& seen);

/// Returns the selected nodes as text; empty if none are selected.
[[nodiscard]] std::string copiedNodes(const Document& document, const Selection& selection, const GraphView& seen);
/// Adds copied nodes beside the originals if that place is visible, else in the middle of the visible area.
[[nodiscard]] Result<DocumentChange> pasteNodes(const Document& document, std::string_view text, const GraphView& seen);
[[nodiscard]] Result<DocumentChange> duplicateNodes(const Document& document, const Selection& selection,
                                                    const GraphView& seen);

/// Adds a node at the free place nearest to the spot, wired to the spot's end by the first port that fits. Without a
/// spot, the automatic layout places it.
[[nodiscard]] Result<DocumentChange> addNode(const Document& document, const NodeOffer& offer,
                                             const std::optional<NodeSpot>& spot, const GraphView& seen);
/// Adds a wire, and removes `lifted` if a wire was picked up.
[[nodiscard]] DocumentChange connectWire(const Document& document, const Wire& wire, const std::optional<Wire>& lifted,
                                         const GraphView& seen);
[[nodiscard]] DocumentChange removeWire(const Document& document, const Wire& wire, const GraphView& seen);

/// Completes `edit` like a command of this file: if it adds or removes nodes or wires of the visible graph, every other
/// node keeps its visible position.
[[nodiscard]] Edit keepingPlaces(const Document& document, Edit edit, const GraphView& seen);

/// Aligns the selected nodes; at least two are required.
[[nodiscard]] Result<DocumentChange> alignNodes(const Document& document, const Selection& selection,
                                                Alignment alignment, const GraphView& seen);
/// Moves the nodes so that their corners are at `to`.
[[nodiscard]] Result<DocumentChange> moveNodes(const Document& document, const std::map<NodeId, Position>& to,
                                               const GraphView& seen);
/// Moves all nodes of the graph so that their corners are at `to`, the result of the automatic layout.
[[nodiscard]] DocumentChange tidyNodes(const Document& document, const std::map<NodeId, Position>& to,
                                       const GraphView& seen);

} // namespace residua::projects
