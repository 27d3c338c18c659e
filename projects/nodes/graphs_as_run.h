// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/graph.h"
#include "projects/model/topology.h"

#include <vector>

namespace residua::projects {

/// Returns the graph of the stem or head as it runs under a wiring. If ports have separate norms, no node shares
/// another node's weights.
[[nodiscard]] Graph graphAsRun(const Wiring& wiring, Graph graph);
/// Returns the graphs that a layer of the block runs, in order: the block's graph, or its two halves if the wiring acts
/// at FFN inputs. Returns an error if the block has no halves.
[[nodiscard]] Result<std::vector<Graph>> graphsAsRun(const Wiring& wiring, const Block& block);

} // namespace residua::projects
