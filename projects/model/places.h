// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"
#include "projects/model/graph_ref.h"

#include <cstdint>
#include <string>

/// Graphs of a document, and names of places in it for people.
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

} // namespace residua::projects
