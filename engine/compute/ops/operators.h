// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

/// Differentiable functions, each in the source of its name.
namespace residua::engine {

/// Returns `x` [examples, …] with elements set to 0 with probability `rate` (0 ≤ rate < 1) and the others divided by
/// 1 − rate. Differentiable.
///
/// Which elements are dropped depends on the step's key, `stream` and the example alone (kernels/dropout.h), and not on
/// how a step's examples are divided into batches or processes. `draws` is int64 [2] on x's device: the step's key and
/// the number of the first example among those of the step. It must not change before the backward.
[[nodiscard]] at::Tensor dropout(const at::Tensor& x, double rate, std::uint64_t stream, const at::Tensor& draws);
/// Returns independent draws from N(0, 1) [examples, width] in double, as a function of the step's key, `stream` and
/// the example alone, as dropout() does. Not differentiable.
[[nodiscard]] at::Tensor normalDraws(std::int64_t examples, std::int64_t width, std::uint64_t stream,
                                     const at::Tensor& draws);

/// Returns doubly stochastic matrices: exp(logits) with the rows, then the columns, divided `iterations` times by their
/// sums (Sinkhorn and Knopp; mHC eq. 9). Columns sum to 1 exactly, rows up to convergence. `logits` [n, n, ...] holds
/// matrices [in, out] along the further dimensions. Saves only the logits for the backward, which repeats the
/// iterations. On a GPU with the CUDA kernels, float32 matrices that these support (kernels/sinkhorn.h) take one kernel
/// each way.
[[nodiscard]] at::Tensor sinkhorn(const at::Tensor& logits, std::int64_t iterations);

/// Returns the number of rows of `logits` [..., V] for which tokenLoss() needs at most 1 GB beside the logits; at least
/// one.
[[nodiscard]] std::int64_t tokenLossRows(const at::Tensor& logits);

/// The gradient that a loss is expected to get in the backward.
struct LossGradient {
    at::Tensor tensor; ///< a scalar of the loss's type and device; undefined if the gradient is not known
    double value = 1;  ///< of the scalar
};

/// Returns the mean cross entropy of `logits` [..., V] against the tokens `target` [...] (int32 or int64, each below
/// V), in at least single precision: []. Differentiable once, by the logits.
///
/// If a gradient is needed, computes it in the same pass, in the logits' type: reads the logits once and writes the
/// gradient, 4 bytes a logit in bfloat16. It overwrites the logits if the caller moves them here and they have no other
/// owner, else it takes memory of their size until the backward. The backward returns it if the loss gets the very
/// tensor `expected`; it scales it first, with 4 bytes a logit more, if the loss gets another gradient. Without the
/// kernel, computes `rows` rows at a time.
[[nodiscard]] at::Tensor tokenLoss(at::Tensor logits, const at::Tensor& target, std::int64_t rows,
                                   const LossGradient& expected = {});

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

/// The processes that each have a part of the same micro-batch, all of the same size.
struct BatchParts {
    std::int64_t count = 1;
    /// Replaces the values of a contiguous float32 or float64 tensor by their sums over the parts, which the current
    /// stream may read at once. All processes make the same calls in the same order.
    std::function<void(const at::Tensor&)> sum;
};

/// A norm over the rows of all parts, and its moments [features]; the variance is divided by the number of rows.
struct BatchNormed {
    at::Tensor y;
    at::Tensor mean;
    at::Tensor variance;
};
/// Returns (x − mean) / √(variance + epsilon) · weight + bias of each feature of `x` [rows, features] over the rows of
/// all parts. Differentiable once: `y` by x, weight and bias. The gradients of these two are those of this part. Sums
/// twice in the forward and once in the backward.
[[nodiscard]] BatchNormed sharedBatchNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                                          double epsilon, const BatchParts& parts);

} // namespace residua::engine
