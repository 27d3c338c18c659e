// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/commands/document_change.h"
#include "projects/graphs/graph_edits.h"
#include "projects/graphs/node_places.h"
#include "projects/graphs/node_search.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

// Commands in the graph of a block, stem or head. Each gives one edit with a title, which also keeps every other node
// where it is seen. `seen` says which graph is meant; that of the selection is the same.
namespace residua::projects {

/// Where a node is to be added, and what it is to be wired to.
struct NodeSpot {
    Position centre;
    std::optional<WireEnd> end = {};
};

/// Takes the selected nodes with their wires, and the selected wires, out.
[[nodiscard]] Result<DocumentChange> deleteNodes(const Document& document, const Selection& selection,
                                                 const GraphView& seen);

/// The selected nodes as text; empty where there are none.
[[nodiscard]] std::string copiedNodes(const Document& document, const Selection& selection, const GraphView& seen);
/// Adds copied nodes beside where they were copied, if that place is in sight; else in the middle of what is in sight.
[[nodiscard]] Result<DocumentChange> pasteNodes(const Document& document, std::string_view text, const GraphView& seen);
[[nodiscard]] Result<DocumentChange> duplicateNodes(const Document& document, const Selection& selection,
                                                    const GraphView& seen);

/// Adds a node at the free place that is nearest to the spot, wired to the spot's end by the first port that fits.
/// Without a spot the automatic layout places it.
[[nodiscard]] Result<DocumentChange> addNode(const Document& document, const NodeOffer& offer,
                                             const std::optional<NodeSpot>& spot, const GraphView& seen);
/// Adds a wire, in place of `lifted` if a wire was picked up.
[[nodiscard]] DocumentChange connectWire(const Document& document, const Wire& wire, const std::optional<Wire>& lifted,
                                         const GraphView& seen);
[[nodiscard]] DocumentChange removeWire(const Document& document, const Wire& wire, const GraphView& seen);

/// `edit` as a command of this file would give it: where it adds or removes nodes or wires of the graph that is seen,
/// every other node stays where it is seen.
[[nodiscard]] Edit keepingPlaces(const Document& document, Edit edit, const GraphView& seen);

/// Aligns the selected nodes, two at least.
[[nodiscard]] Result<DocumentChange> alignNodes(const Document& document, const Selection& selection,
                                                Alignment alignment, const GraphView& seen);
/// Moves the nodes to the corners `to`.
[[nodiscard]] Result<DocumentChange> moveNodes(const Document& document, const std::map<NodeId, Position>& to,
                                               const GraphView& seen);
/// Moves all nodes of the graph to the corners `to`, which the automatic layout has given.
[[nodiscard]] DocumentChange tidyNodes(const Document& document, const std::map<NodeId, Position>& to,
                                       const GraphView& seen);

} // namespace residua::projects
