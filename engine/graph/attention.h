// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/node_builder.h"

namespace residua::engine {

/// Multi-head attention with its projections. Parameters: q.weight, k.weight, v.weight, out.weight (each with .bias if
/// wanted; one below full rank is .u and .v instead of .weight), q_norm.weight and k_norm.weight with qk_norm:
/// [features per head], or [features of all heads]. On the CPU the projections, the rotation and the attention are one
/// function where there are no biases, norms, shared heads or a window shorter than the text, and where q, k and v read
/// the same value one product makes all three; the parameters keep their names.
[[nodiscard]] OperatorResult buildAttention(const NodeContext& node);

} // namespace residua::engine
