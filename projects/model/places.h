// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"
#include "projects/model/graph_ref.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Graphs of a document; names of places in it for people, and the pointers of graphs, nodes and wires for files.
namespace residua::projects {

struct Project;

/// Returns null if the graph does not exist.
[[nodiscard]] const Graph* findGraph(const Project& project, const GraphRef& ref);
[[nodiscard]] Graph* findGraph(Project& project, const GraphRef& ref);
/// Returns the block of layer `layer`, the stem for 0, and the head beyond the last layer. Empty if the block does not
/// exist.
[[nodiscard]] GraphRef graphOfLayer(const Network& network, std::int64_t layer);
/// Returns the graph in `after` that corresponds to `ref` in `before`, following renames. Empty if it was deleted.
[[nodiscard]] GraphRef keptGraph(const Project& before, const GraphRef& ref, const Project& after);
/// Returns the graph to show in `after` in place of `ref` in `before`: keptGraph(), unless the block was deleted or is
/// used by no layer any more. In that case, the graph of the first layer, else the stem.
[[nodiscard]] GraphRef graphAfter(const Project& before, const GraphRef& ref, const Project& after);

/// "stem", "head" or "block transformer".
[[nodiscard]] std::string placeOf(const GraphRef& ref);
/// "block transformer · node up".
[[nodiscard]] std::string placeOf(const GraphRef& ref, const Node& node);
/// "block transformer · wire norm.out > attention.q"; a missing node is given by its number.
[[nodiscard]] std::string placeOf(const GraphRef& ref, const Graph& graph, const Wire& wire);

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
