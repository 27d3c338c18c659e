// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

namespace residua::engine {

/// Attention with positive features instead of a softmax (Choromanski et al. 2020, lemma 1 and section 2.1; definition
/// B.1 of "Nonlinear Initialization Methods for Low-Rank Neural Networks"). With x' = x/e^¼ and φ_i(x) = exp(ω_i·x' −
/// ‖x'‖²/2), out_s = Σ_t φ(q_s)·φ(k_t) v_t / Σ_t φ(q_s)·φ(k_t), over t ≤ s if causal.
///
/// q [batch, heads, time, e]; k [batch, kvHeads, time, e] and v [batch, kvHeads, time, f], heads a multiple of kvHeads;
/// ω [kvHeads, r, e]. Returns [batch, heads, time, f] in q's type; computes in double for doubles, else in float.
/// Differentiable once. Stores no matrix over all pairs of tokens: without `causal`, it sums over all keys; with it,
/// over the keys before each chunk of projects::kFeatureChunk tokens, and over pairs within the chunk. The shift that
/// stabilises the exponentials cancels except for rounding, so later tokens of a chunk can change an earlier one's
/// result in its last bits.
[[nodiscard]] at::Tensor featureAttention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                          const at::Tensor& features, bool causal);

} // namespace residua::engine
