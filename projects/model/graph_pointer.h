// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph_ref.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace residua::projects {

struct Project;

/// A graph of a project, or a node or wire of it, as JSON pointers into project.json name them: nodes and wires by
/// their index in the graph's lists.
struct GraphPointer {
    GraphRef graph = {};
    std::optional<std::size_t> node = {};
    std::optional<std::size_t> wire = {};

    bool operator==(const GraphPointer&) const = default;
};

/// Its one text form: "/network/head", "/network/blocks/0/graph/nodes/3", "/network/stem/wires/2". Empty where the
/// project has no such graph.
[[nodiscard]] std::string textOf(const Project& project, const GraphPointer& pointer);
/// Reads a pointer to a graph, to a block or to what is inside of one; node or wire only where the graph has it.
/// nullopt for any other pointer.
[[nodiscard]] std::optional<GraphPointer> graphPointerFrom(const Project& project, std::string_view text);

/// The pointer to a block as a whole, with its name: "/network/blocks/0".
[[nodiscard]] std::string pointerOfBlock(std::size_t index);

} // namespace residua::projects
