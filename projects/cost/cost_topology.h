// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/depth_plan.h"
#include "projects/model/project.h"
#include "projects/nodes/node_kinds.h"

#include <cstdint>

/// The topology's share of the cost. Private to this folder.
namespace residua::projects {

/// The topology's cost of one token or sample, over all layers and the final output.
[[nodiscard]] NodeCost topologyCost(const Topology& topology, std::int64_t depth, std::int64_t width);

/// How much a reader of a mix reads.
struct ReaderSize {
    std::int64_t entries = 0;
    std::int64_t learned = 0; ///< those of them that ShortcutState::Learned gives a weight of their own
};
[[nodiscard]] ReaderSize sizeOf(const DepthMix& mix, const DepthReader& reader);
/// The cost of a reader when it reads that much.
[[nodiscard]] NodeCost readerCost(const DepthMix& mix, const DepthReader& reader, const ReaderSize& size,
                                  std::int64_t depth, std::int64_t width);

NodeCost& operator+=(NodeCost& a, const NodeCost& b);
NodeCost& operator-=(NodeCost& a, const NodeCost& b);

/// Whether branches are kept for the backward pass: because entries are stored, or learned weights multiply them. A
/// branch that is only added is freed at once.
[[nodiscard]] bool keepsBranches(const Topology& topology);
/// Whether branches are kept as operands of products, which round them, and not as the residual is.
[[nodiscard]] bool roundsBranches(const Topology& topology);

} // namespace residua::projects
