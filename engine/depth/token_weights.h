// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/depth/depth_weights.h"

namespace residua::engine {

/// Weights computed for each token, in the parameters' precision whatever the stack's.
///
/// MUDD (WeightKind::PerToken), for reader j with n sources and O outputs: GELU(RMSNorm(x) W1) W2 + b of the newest
/// entry x, with h hidden features (projects::perTokenHidden) and a norm without weights. "topology.<j>.hidden" [h, d]
/// starts normal with deviation 1/√d, "topology.<j>.mix" [O·n, h] from 0, "topology.<j>.bias" [O·n] from the document's
/// start. If normalised, a softmax over the sources with temperature τ follows.
///
/// Attention Residuals (WeightKind::DepthAttention), for each output of each reader: p = softmax_i(⟨q,
/// RMSNorm(x_i)⊙w⟩/τ) over its sources. "topology.query" [mixes, d] from 0, "topology.norm" [mixes, d] from 1.
///
/// The matrix of both is "mix", the mean over the tokens of the last pass.
[[nodiscard]] Result<std::unique_ptr<DepthWeights>>
makeTokenWeights(const projects::DepthMix& mix, const projects::DepthPlan& depth, std::int64_t width, InitPlan& plan);

} // namespace residua::engine
