// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"
#include "projects/nodes/shape.h"

#include <string>

/// Names of places in a document, as people read them.
namespace residua::projects {

inline constexpr const char* kStem = "stem";
inline constexpr const char* kHead = "head";
inline constexpr const char* kBlockPrefix = "block:";

/// "stem", "head" or "block transformer".
[[nodiscard]] std::string placeOf(const GraphRef& ref);
/// "block transformer · node up".
[[nodiscard]] std::string placeOf(const GraphRef& ref, const Node& node);
/// "block transformer · wire norm.out > attention.q"; a node that is not there reads as its number.
[[nodiscard]] std::string placeOf(const GraphRef& ref, const Graph& graph, const Wire& wire);

} // namespace residua::projects
