// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/node_builder.h"

namespace residua::engine {

/// Builds multi-head attention with its projections. Parameters: q.weight, k.weight, v.weight and out.weight (each with
/// .bias if requested, and as .u and .v instead of .weight below full rank); with qk_norm also q_norm.weight and
/// k_norm.weight: [features per head] or [features of all heads]. On the CPU, the projections, the rotation and the
/// attention are one function unless there are biases, norms, shared heads or a window shorter than the text. If q, k
/// and v then read the same value, one product computes all three; the parameters keep their names.
[[nodiscard]] OperatorResult buildAttention(const NodeContext& node);

} // namespace residua::engine
