// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from stream_rules.h, because layer_wiring.cpp includes it too.

#include "engine/compute/depth/depth_stack.h"
#include "engine/compute/graph/pass.h"
#include "projects/nodes/alteration.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace residua::engine {

/// Returns the value that takes the place of stream `stream` (from 0) at a border, whose streams are `streams` in this
/// pass and `unaltered` in the unaltered one (null if not kept). A mean has the tokens that are not padding.
[[nodiscard]] at::Tensor filled(const projects::FilledStreams& fill, std::size_t stream,
                                const std::vector<at::Tensor>& streams, const std::vector<at::Tensor>* unaltered,
                                const Pass& pass);

/// Returns the weights [n, n + R] or [n, n + R, tokens] of a write with other weights for the n old streams. A mean has
/// the tokens that are not padding.
[[nodiscard]] MixWeights withTransition(MixWeights write, std::int64_t n, const projects::ReplacedTransitions& by,
                                        const Pass& pass);

} // namespace residua::engine
