// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/places.h"
#include "projects/model/project.h"

#include <cstdint>
#include <set>

namespace residua::projects {

/// The selection in a document: layers by number (0: the stem, depth + 1: the head), shortcuts, and nodes and wires of
/// one graph.
struct Selection {
    std::set<std::int64_t> layers = {};
    std::set<Shortcut> shortcuts = {};
    std::set<NodeId> nodes = {};
    std::set<Wire> wires = {};
    GraphRef graph = {}; ///< the graph that `nodes` and `wires` belong to; empty if none is selected

    [[nodiscard]] bool empty() const { return layers.empty() && shortcuts.empty() && nodes.empty() && wires.empty(); }
    bool operator==(const Selection&) const = default;
};

/// Returns the selected layers and shortcuts.
[[nodiscard]] Selection partOfStack(const Selection& selection);
/// Returns the selected nodes and wires, or none if they belong to another graph.
[[nodiscard]] Selection partOfGraph(const Selection& selection, const GraphRef& graph);
/// Returns the part of the selection that exists in the project, because an edit may have removed some.
[[nodiscard]] Selection existing(const Project& project, Selection selection);

/// Selects the stem, every layer, the head, and every shortcut; for a running sum, the steps from module to module.
[[nodiscard]] Selection wholeStack(const Project& project);
/// Selects every shortcut that is read; none in a stack that is deeper than the matrix can show.
[[nodiscard]] Selection everyShortcut(const Project& project);
[[nodiscard]] Selection everyNode(const Project& project, const GraphRef& graph);

} // namespace residua::projects
