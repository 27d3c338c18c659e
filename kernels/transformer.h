// SPDX-License-Identifier: GPL-3.0-or-later
// Fused kernels of the transformer block: RMSNorm (with the residual addition before it), SwiGLU, rotary embedding,
// cross entropy. Same rules as depth_mix.h: caller's memory, float32 sums (float64 for float64 data), weights and saved
// scalars in float32 (float64), one rounding per result element, no dependence on the thread count.
//
// With S = N·d·bytes per element, bytes that must move:
//   rmsNormForward   2 S, with residual 4 S        rmsNormBackward  3 S [+ 1 with sumGrad]
//   swigluForward    3 S of the hidden width       swigluBackward   5 S
//   rotary           2 S
//   crossEntropy     1 S of the logits, with their gradient 2 S (the second reading of a row comes from a cache)
#pragma once

#include "kernels/types.h"

#include <cstddef>
#include <cstdint>

namespace residua::kernels {

/// y = x·rstd·weight with rstd = 1/sqrt(mean(x²) + eps). With a residual, x + residual takes the place of x and is
/// written to sum.
struct RmsNormForward {
    DataType dataType = DataType::float32;
    std::int64_t tokens = 0; ///< N
    std::int64_t width = 0;  ///< d
    double eps = 1e-6;
    const void* x = nullptr;        ///< [N, d]
    const void* residual = nullptr; ///< [N, d] or null
    const void* weight = nullptr;   ///< [d], or null for ones
    void* sum = nullptr;            ///< [N, d], with residual; may be x or residual itself
    void* y = nullptr;              ///< [N, d]
    void* rstd = nullptr;           ///< [N], needed by the backward; null: not wanted
    bool bfloat16Output = false;    ///< y is bfloat16 and all else float32; CUDA only
};

/// dx = rstd·(dy·weight - x̂·mean(dy·weight·x̂)) + sumGrad, dweight = Σ_n dy·x̂, with x̂ = x·rstd.
struct RmsNormBackward {
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
    void* workspace = nullptr;     ///< 64-byte aligned, at least rmsNormBackwardWorkspace bytes
    std::size_t workspaceBytes = 0;
    bool bfloat16Output = false; ///< yGrad is bfloat16 and all else float32; CUDA only
};

/// out = silu(gate)·up, silu(v) = v/(1 + exp(-v)). Rows lie rowStride elements apart, so gate and up may be halves of
/// [N, 2h].
struct SwigluForward {
    DataType dataType = DataType::float32;
    std::int64_t tokens = 0;
    std::int64_t width = 0; ///< h
    const void* gate = nullptr;
    const void* up = nullptr;
    std::int64_t rowStride = 0; ///< of gate and up, >= h
    void* out = nullptr;        ///< [N, h]
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
};

/// Which way a rotary embedding turns; backward is the inverse rotation, and the gradient.
enum class Rotation : std::int32_t { forward, backward };

/// Where element [batch, time, head, 0] lies, in elements; features are adjacent.
struct RotaryStrides {
    std::int64_t batch = 0;
    std::int64_t time = 0;
    std::int64_t head = 0;
};

/// Rotary embedding, rotate-half: features i and i + r/2 of the first r turn by the angle of (time, i); the rest are
/// copied.
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

/// loss_n = w_n·(log Σ_c exp(l_nc) - l_n,target), and its gradient dl_nc = factor·gradScale·w_n·(softmax_nc - [c =
/// target]). A row whose target is `ignored` has loss and gradient 0; a row whose target is no class has NaN in both.
struct CrossEntropy {
    DataType dataType = DataType::float32;
    IndexType targetType = IndexType::int64;
    std::int64_t tokens = 0;         ///< N
    std::int64_t classes = 0;        ///< V
    const void* logits = nullptr;    ///< [N, V]
    std::int64_t rowStride = 0;      ///< of logits, >= V
    const void* targets = nullptr;   ///< [N]
    std::int64_t ignored = -100;     ///< target of the rows that do not count
    const void* rowWeight = nullptr; ///< w: [N] in float32 (float64), or null for ones
    void* loss = nullptr;            ///< [N] in float32 (float64); null: not wanted
    void* grad = nullptr;            ///< dl: [N, V]; null: not wanted; may be logits itself with the same stride
    std::int64_t gradRowStride = 0;  ///< of grad
    double factor = 1;
    const void* gradScale = nullptr; ///< one float32 (float64), or null for 1
};

/// Checks everything but the workspace, whose size depends on the device.
[[nodiscard]] Status validate(const RmsNormForward& norm);
[[nodiscard]] Status validate(const RmsNormBackward& norm);
[[nodiscard]] Status validate(const SwigluForward& swiglu);
[[nodiscard]] Status validate(const SwigluBackward& swiglu);
[[nodiscard]] Status validate(const Rotary& rotary);
[[nodiscard]] Status validate(const CrossEntropy& entropy);

[[nodiscard]] Status rmsNormForward(const RmsNormForward& norm, const Parallel& parallel = {});
[[nodiscard]] Status rmsNormBackward(const RmsNormBackward& norm, const Parallel& parallel = {});
[[nodiscard]] std::size_t rmsNormBackwardWorkspace(const RmsNormBackward& norm);
[[nodiscard]] Status swigluForward(const SwigluForward& swiglu, const Parallel& parallel = {});
[[nodiscard]] Status swigluBackward(const SwigluBackward& swiglu, const Parallel& parallel = {});
[[nodiscard]] Status rotary(const Rotary& rotary, const Parallel& parallel = {});
[[nodiscard]] Status crossEntropy(const CrossEntropy& entropy, const Parallel& parallel = {});

} // namespace residua::kernels
