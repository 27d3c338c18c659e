// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/nodes/resolved_graph.h"

#include <cstdint>
#include <vector>

namespace residua::projects {

/// An MLP of a graph: the linear nodes that compute its hidden features, and the one that reads them. The nodes between
/// them work feature by feature and have no other readers. The MLP is therefore a sum of parts, each with some of the
/// hidden features. Of consecutive linear nodes, each belongs to one MLP.
struct MlpNodes {
    std::vector<NodeId> openers; ///< in the graph's order
    NodeId closer{};
    std::int64_t hidden = 0;          ///< features
    std::vector<NodeId> between = {}; ///< nodes that work on the hidden features one by one
};
[[nodiscard]] std::vector<MlpNodes> mlpsOf(const ResolvedGraph& graph);

} // namespace residua::projects
