// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/graph.h"
#include "projects/model/topology.h"

#include <vector>

namespace residua::projects {

/// The stem's or the head's graph as it runs under a wiring: with norms of their own per port no node uses the weights
/// of another.
[[nodiscard]] Graph graphAsRun(const Wiring& wiring, Graph graph);
/// What a layer of the block runs as, in order: its graph, or where the wiring acts at FFN inputs its two halves. An
/// error where the block has none.
[[nodiscard]] Result<std::vector<Graph>> graphsAsRun(const Wiring& wiring, const Block& block);

} // namespace residua::projects
