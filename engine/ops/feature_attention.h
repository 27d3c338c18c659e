// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

namespace residua::engine {

/// Attention whose weights are positive features in the place of a softmax (Choromanski et al. 2020, lemma 1 and
/// section 2.1; definition B.1 of "Nonlinear Initialization Methods for Low-Rank Neural Networks"): with x' = x/e^¼ and
/// φ_i(x) = exp(ω_i·x' − ‖x'‖²/2), out_s = Σ_t φ(q_s)·φ(k_t) v_t / Σ_t φ(q_s)·φ(k_t), over t ≤ s where causal.
///
/// q [batch, heads, time, e]; k [batch, kvHeads, time, e] and v [batch, kvHeads, time, f], heads a multiple of kvHeads;
/// ω [kvHeads, r, e]. Gives [batch, heads, time, f] in q's type; computes in double for doubles, else in float.
/// Differentiable, once. No matrix of all pairs of tokens is made: without `causal` there are sums over all keys, with
/// it sums over the keys before each chunk of projects::kFeatureChunk tokens, and pairs within a chunk. What stabilises
/// the exponentials cancels but for rounding: in that alone a token may differ by the later ones of its chunk.
[[nodiscard]] at::Tensor featureAttention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                          const at::Tensor& features, bool causal);

} // namespace residua::engine
