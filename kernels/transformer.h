// SPDX-License-Identifier: GPL-3.0-or-later
// Fused kernels of the transformer block: RMSNorm and LayerNorm (with the preceding residual addition), SwiGLU, rotary
// embedding, cross entropy. They follow the rules of depth_mix.h: the caller's memory, float32 sums (float64 for
// float64 data), weights and saved scalars in float32 (float64), one rounding per result element, no dependence on the
// number of threads.
//
// With S = N·d·bytes per element, bytes that must move:
//   normForward   2 S, with residual 4 S           normBackward  3 S [+ 1 with sumGrad] [+ 1/2 with residualGrad]
//   swigluForward    3 S of the hidden width       swigluBackward   5 S
//   rotary           2 S
//   crossEntropy     1 S of the logits, with their gradient 2 S (the second reading of a row comes from a cache)
#pragma once

#include "kernels/types.h"

#include <cstddef>
#include <cstdint>

namespace residua::kernels {

/// The norm over the features of a token. The CPU has only rms.
enum class NormKind : std::int32_t { rms, layer };

/// rms: y = x·rstd·weight with rstd = 1/sqrt(mean(x²) + eps). layer: y = (x − mean x)·rstd·weight + bias with rstd of
/// x − mean x. With a residual, x + residual replaces x and is written to sum.
struct NormForward {
    DataType dataType = DataType::float32;
    std::int64_t tokens = 0; ///< N
    std::int64_t width = 0;  ///< d
    double eps = 1e-6;
    const void* x = nullptr;        ///< [N, d]
    const void* residual = nullptr; ///< [N, d] or null
    const void* weight = nullptr;   ///< [d], or null for ones
    void* sum = nullptr;            ///< [N, d], with residual; may be x, or residual if of the same type
    void* y = nullptr;              ///< [N, d]
    void* rstd = nullptr;           ///< [N], needed by the backward; null: not wanted
    bool bfloat16Output = false;    ///< y and residual are bfloat16 and all else float32; CUDA only
    NormKind kind = NormKind::rms;
    const void* bias = nullptr; ///< [d] of a layer norm, or null for zeros
    void* mean = nullptr;       ///< [N] of a layer norm, as rstd
    void* largest = nullptr;    ///< [N], as rstd: the largest magnitude in each row of y as stored, NaN not counted
};

/// With x̂ = (x − mean x)·rstd, or x·rstd for rms, and g = dy·weight:
/// dx = rstd·(g − [mean g] − x̂·mean(g·x̂)) + sumGrad, dweight = Σ_n dy·x̂, dbias = Σ_n dy.
struct NormBackward {
    DataType dataType = DataType::float32;
    std::int64_t tokens = 0;
    std::int64_t width = 0;
    const void* yGrad = nullptr;   ///< dy: [N, d]
    const void* x = nullptr;       ///< [N, d]: the normalised tensor (forward's sum, if it had one)
    const void* rstd = nullptr;    ///< [N]
    const void* weight = nullptr;  ///< as in forward
    const void* sumGrad = nullptr; ///< [N, d] gradient that reaches x by another way, or null; may be xGrad itself
    void* xGrad = nullptr;         ///< dx: [N, d]; with a residual both inputs have this gradient
    void* weightGrad = nullptr;    ///< [d], overwritten; null: not wanted
    void* workspace = nullptr;     ///< 64-byte aligned, at least normBackwardWorkspace bytes
    std::size_t workspaceBytes = 0;
    bool bfloat16Output = false; ///< yGrad and residualGrad are bfloat16 and all else float32; CUDA only
    NormKind kind = NormKind::rms;
    const void* mean = nullptr;   ///< [N] of a layer norm
    void* biasGrad = nullptr;     ///< [d] of a layer norm; null: not wanted
    void* residualGrad = nullptr; ///< dx in bfloat16: [N, d], or null; with bfloat16Output only
};

/// out = silu(gate)·up, silu(v) = v/(1 + exp(-v)). Rows are rowStride elements apart, so gate and up may be halves of
/// [N, 2h].
struct SwigluForward {
    DataType dataType = DataType::float32;
    std::int64_t tokens = 0;
    std::int64_t width = 0; ///< h
    const void* gate = nullptr;
    const void* up = nullptr;
    std::int64_t rowStride = 0; ///< of gate and up, >= h
    void* out = nullptr;        ///< [N, h]
    void* largest = nullptr;    ///< [N] of out, as in NormForward, or null
};

struct SwigluBackward {
    DataType dataType = DataType::float32;
    std::int64_t tokens = 0;
    std::int64_t width = 0;
    const void* gate = nullptr;
    const void* up = nullptr;
    std::int64_t rowStride = 0;
    const void* outGrad = nullptr;  ///< [N, h]
    void* gateGrad = nullptr;       ///< may be gate itself
    void* upGrad = nullptr;         ///< may be up itself
    std::int64_t gradRowStride = 0; ///< of gateGrad and upGrad
    void* largest = nullptr;        ///< [N] of both gradients, as in NormForward, or null
};

/// The direction of a rotary embedding. Backward is the inverse rotation, which is also the gradient.
enum class Rotation : std::int32_t { forward, backward };

/// The distances of batches, positions and heads in elements; features are adjacent.
struct RotaryStrides {
    std::int64_t batch = 0;
    std::int64_t time = 0;
    std::int64_t head = 0;
};

/// Rotary embedding, rotate-half: rotates features i and i + r/2 of the first r by the angle of (time, i) and copies
/// the rest.
struct Rotary {
    DataType dataType = DataType::float32;
    Rotation rotation = Rotation::forward;
    std::int64_t batch = 0;
    std::int64_t time = 0;
    std::int64_t heads = 0;
    std::int64_t headWidth = 0;
    std::int64_t rotated = 0;     ///< r, even, <= headWidth
    const void* cosine = nullptr; ///< [time, r/2]
    const void* sine = nullptr;   ///< [time, r/2]
    const void* in = nullptr;
    RotaryStrides inStrides = {};
    void* out = nullptr; ///< may be in itself with the same strides
    RotaryStrides outStrides = {};
};

enum class IndexType : std::int32_t { int32, int64 };

/// loss_n = w_n·(log Σ_c exp(l_nc) - l_n,target), with gradient dl_nc = factor·gradScale·w_n·(softmax_nc - [c =
/// target]). A row with the target `ignored` has loss and gradient 0; a row with an invalid target has NaN in both.
struct CrossEntropy {
    DataType dataType = DataType::float32;
    IndexType targetType = IndexType::int64;
    std::int64_t tokens = 0;         ///< N
    std::int64_t classes = 0;        ///< V
    const void* logits = nullptr;    ///< [N, V]
    std::int64_t rowStride = 0;      ///< of logits, >= V
    const void* targets = nullptr;   ///< [N]
    std::int64_t ignored = -100;     ///< the target of rows that are not counted
    const void* rowWeight = nullptr; ///< w: [N] in float32 (float64), or null for ones
    void* loss = nullptr;            ///< [N] in float32 (float64); null: not wanted
    void* grad = nullptr;            ///< dl: [N, V]; null: not wanted; may be logits itself with the same stride
    std::int64_t gradRowStride = 0;  ///< of grad
    double factor = 1;
    const void* gradScale = nullptr; ///< one float32 (float64), or null for 1
};

/// Return the first error of the arguments, except for the workspace, whose size depends on the device.
[[nodiscard]] Status validate(const NormForward& norm);
[[nodiscard]] Status validate(const NormBackward& norm);
[[nodiscard]] Status validate(const SwigluForward& swiglu);
[[nodiscard]] Status validate(const SwigluBackward& swiglu);
[[nodiscard]] Status validate(const Rotary& rotary);
[[nodiscard]] Status validate(const CrossEntropy& entropy);

[[nodiscard]] Status normForward(const NormForward& norm, const Parallel& parallel = {});
[[nodiscard]] Status normBackward(const NormBackward& norm, const Parallel& parallel = {});
[[nodiscard]] std::size_t normBackwardWorkspace(const NormBackward& norm);
[[nodiscard]] Status swigluForward(const SwigluForward& swiglu, const Parallel& parallel = {});
[[nodiscard]] Status swigluBackward(const SwigluBackward& swiglu, const Parallel& parallel = {});
[[nodiscard]] Status rotary(const Rotary& rotary, const Parallel& parallel = {});
[[nodiscard]] Status crossEntropy(const CrossEntropy& entropy, const Parallel& parallel = {});

} // namespace residua::kernels
