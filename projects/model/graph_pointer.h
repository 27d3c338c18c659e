// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph_ref.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace residua::projects {

struct Project;

/// A graph of a project, or a node or wire of it, as a JSON pointer into project.json identifies it. Nodes and wires
/// are identified by their index in the graph's lists.
struct GraphPointer {
    GraphRef graph = {};
    std::optional<std::size_t> node = {};
    std::optional<std::size_t> wire = {};

    bool operator==(const GraphPointer&) const = default;
};

/// Formats the pointer: "/network/head", "/network/blocks/0/graph/nodes/3", "/network/stem/wires/2". Empty if the
/// project has no such graph.
[[nodiscard]] std::string textOf(const Project& project, const GraphPointer& pointer);
/// Parses a pointer to a graph, to a block or to a place inside one. Node and wire are set only if the graph has them.
/// Returns nullopt for any other pointer.
[[nodiscard]] std::optional<GraphPointer> graphPointerFrom(const Project& project, std::string_view text);

/// Returns the pointer to a whole block with its name: "/network/blocks/0".
[[nodiscard]] std::string pointerOfBlock(std::size_t index);

} // namespace residua::projects
