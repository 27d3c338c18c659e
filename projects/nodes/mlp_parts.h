// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/nodes/resolved_graph.h"

#include <cstdint>
#include <vector>

namespace residua::projects {

/// An MLP of a graph: the linears that make its hidden features, and the one that reads them. Between them stand nodes
/// that work feature by feature, and nobody else reads what is there, so that the MLP is the sum of parts with some of
/// the hidden features each. Of linears that follow each other, each belongs to one MLP.
struct MlpNodes {
    std::vector<NodeId> openers; ///< in the graph's order
    NodeId closer{};
    std::int64_t hidden = 0;          ///< features
    std::vector<NodeId> between = {}; ///< what works on the hidden features one by one
};
[[nodiscard]] std::vector<MlpNodes> mlpsOf(const ResolvedGraph& graph);

} // namespace residua::projects
