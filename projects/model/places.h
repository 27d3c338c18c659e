// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"
#include "projects/model/graph_ref.h"

#include <cstdint>
#include <string>

/// Graphs of a document, and the names of places in it as people read them.
namespace residua::projects {

struct Project;

/// nullptr where there is no such graph.
[[nodiscard]] const Graph* findGraph(const Project& project, const GraphRef& ref);
[[nodiscard]] Graph* findGraph(Project& project, const GraphRef& ref);
/// What layer `layer` is made of; the stem for 0 and the head beyond the last. None where there is no such block.
[[nodiscard]] GraphRef graphOfLayer(const Network& network, std::int64_t layer);
/// `ref` of `before` by its name in `after`: a block that was renamed by its new one; none where it is gone.
[[nodiscard]] GraphRef keptGraph(const Project& before, const GraphRef& ref, const Project& after);
/// What to show in `after` where `ref` of `before` was shown: keptGraph(), or in place of a block that is gone or that
/// the last layer has left, graphOfLayer() of the first layer, else the stem.
[[nodiscard]] GraphRef graphAfter(const Project& before, const GraphRef& ref, const Project& after);

/// "stem", "head" or "block transformer".
[[nodiscard]] std::string placeOf(const GraphRef& ref);
/// "block transformer · node up".
[[nodiscard]] std::string placeOf(const GraphRef& ref, const Node& node);
/// "block transformer · wire norm.out > attention.q"; a node that is not there reads as its number.
[[nodiscard]] std::string placeOf(const GraphRef& ref, const Graph& graph, const Wire& wire);

} // namespace residua::projects
