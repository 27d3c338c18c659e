// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/depth_plan.h"
#include "projects/model/project.h"
#include "projects/nodes/node_kinds.h"

#include <cstdint>
#include <vector>

/// The topology's share of the cost. Private to this folder.
namespace residua::projects {

/// The use of an executed layer in a training step that makes the mean number of visits.
enum class VisitUse {
    Whole,
    Forward, ///< the visit has no gradient
    Absent,  ///< beyond the visits of an evaluation
};
/// Returns the use of each executed layer; empty without loops.
[[nodiscard]] std::vector<VisitUse> usesOf(const Stack& stack);

/// Returns the topology's cost of one position of the stack's entries: that of the steps of its program that an
/// evaluation makes. Visits without gradient keep nothing. `keepsInput` says for each executed layer, and then for the
/// head, whether its backward pass needs what it reads; if empty, all do. A sum, a gate's output or a mix that is made
/// for a reader without that need is not kept. The begins and ends of a loop's visit count with the share of its first
/// layer in `visitShares`, by executed layer; if empty, as a whole.
[[nodiscard]] NodeCost topologyCost(const Stack& stack, const std::vector<bool>& keepsInput = {},
                                    const std::vector<double>& visitShares = {});

/// Returns the cost of the mixes of a reader, one of `modules` modules or the final output.
[[nodiscard]] NodeCost readerCost(const DepthMix& mix, const DepthReader& reader, std::int64_t modules,
                                  std::int64_t width);

NodeCost& operator+=(NodeCost& a, const NodeCost& b);
NodeCost& operator-=(NodeCost& a, const NodeCost& b);

/// True if the backward pass of a gate needs the residual, which it multiplies.
[[nodiscard]] bool keepsResidual(BranchGateKind gate);
/// True if branches are kept for the backward pass, because entries are stored or learned weights multiply them. A
/// branch that is only added is freed at once.
[[nodiscard]] bool keepsBranches(const Topology& topology);
/// True if branches are kept as rounded operands of products instead of in the residual's precision.
[[nodiscard]] bool roundsBranches(const Topology& topology);

} // namespace residua::projects
