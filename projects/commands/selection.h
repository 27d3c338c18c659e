// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/places.h"
#include "projects/model/project.h"

#include <cstdint>
#include <set>

namespace residua::projects {

/// What is selected of a document: layers by number (0: the stem, depth + 1: the head), shortcuts; nodes and wires of
/// one graph.
struct Selection {
    std::set<std::int64_t> layers = {};
    std::set<Shortcut> shortcuts = {};
    std::set<NodeId> nodes = {};
    std::set<Wire> wires = {};
    GraphRef graph = {}; ///< whose nodes and wires they are; empty: none is meant

    [[nodiscard]] bool empty() const { return layers.empty() && shortcuts.empty() && nodes.empty() && wires.empty(); }
    bool operator==(const Selection&) const = default;
};

/// The selection's layers and shortcuts alone.
[[nodiscard]] Selection partOfStack(const Selection& selection);
/// The selection's nodes and wires alone, none where they are of another graph.
[[nodiscard]] Selection partOfGraph(const Selection& selection, const GraphRef& graph);
/// What of the selection is in the project: an edit may have removed some.
[[nodiscard]] Selection existing(const Project& project, Selection selection);

/// Selects the stem, every layer and the head, and every shortcut; of a running sum the steps from module to module.
[[nodiscard]] Selection wholeStack(const Project& project);
/// Selects every shortcut that is read. None in a stack that is deeper than the matrix can show.
[[nodiscard]] Selection everyShortcut(const Project& project);
[[nodiscard]] Selection everyNode(const Project& project, const GraphRef& graph);

} // namespace residua::projects
