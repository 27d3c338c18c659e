// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/depth_plan.h"
#include "projects/model/project.h"
#include "projects/nodes/node_kinds.h"

#include <cstdint>

/// The topology's share of the cost. Private to this folder.
namespace residua::projects {

/// Returns the topology's cost of one position of the stack's entries: that of the steps of its program.
[[nodiscard]] NodeCost topologyCost(const Topology& topology, std::int64_t depth, std::int64_t width);
/// The same with the loops of the stack.
[[nodiscard]] NodeCost topologyCost(const Stack& stack);

/// Returns the cost of the mixes of a reader, one of `modules` modules or the final output.
[[nodiscard]] NodeCost readerCost(const DepthMix& mix, const DepthReader& reader, std::int64_t modules,
                                  std::int64_t width);

NodeCost& operator+=(NodeCost& a, const NodeCost& b);
NodeCost& operator-=(NodeCost& a, const NodeCost& b);

/// True if branches are kept for the backward pass, because entries are stored or learned weights multiply them. A
/// branch that is only added is freed at once.
[[nodiscard]] bool keepsBranches(const Topology& topology);
/// True if branches are kept as rounded operands of products instead of in the residual's precision.
[[nodiscard]] bool roundsBranches(const Topology& topology);

} // namespace residua::projects
