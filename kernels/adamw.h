// SPDX-License-Identifier: GPL-3.0-or-later
// AdamW with decoupled decay over many tensors at once. CUDA only.
//
// Bytes that must move: 28 per element in float32 (parameter, mean and square are read and written, the gradient is
// read), 1 more if the piece has a mask, 2 more if it has a rounded copy.
#pragma once

#include "kernels/types.h"

#include <cstddef>
#include <cstdint>

namespace residua::kernels {

/// The values that the pieces of one parameter share.
struct AdamWTensor {
    void* updates = nullptr; ///< one float32: the number of earlier updates; the call adds 1, also if it skips
    double decay = 0;
};

/// A part of a parameter, its gradient and its moments, which have one layout: `rows` runs of `run` adjacent elements,
/// `stride` elements apart. Elements between the runs are neither read nor written.
struct AdamWPiece {
    std::int32_t tensor = 0; ///< the index of its AdamWTensor
    std::int64_t rows = 1;
    std::int64_t run = 0;    ///< rows·run < 2^31
    std::int64_t stride = 0; ///< >= run; ignored if rows is 1
    void* parameter = nullptr;
    const void* gradient = nullptr;
    void* mean = nullptr;
    void* square = nullptr;
    const void* held = nullptr; ///< one byte per element, in the same layout; not 0: the parameter keeps its value
    void* rounded = nullptr;    ///< bfloat16, in the same layout: receives the parameter, rounded to nearest even
};

/// With g = gradient/scale and c = the number of updates, this one included:
///   p -= rate·decay·p;  m = β₁·m + (1 - β₁)·g;  v = β₂·v + (1 - β₂)·g²
///   p -= rate/(1 - β₁ᶜ)·m / (sqrt(v)/sqrt(1 - β₂ᶜ) + epsilon)
/// The corrections are computed in float64. Pieces must not overlap. Works in float32 or float64, with
/// rounded copies in float32 alone.
struct AdamW {
    DataType dataType = DataType::float32;
    std::int32_t tensors = 0;
    const AdamWTensor* tensor = nullptr; ///< [tensors], in the host's memory
    std::int32_t pieces = 0;
    const AdamWPiece* piece = nullptr; ///< [pieces], in the host's memory
    double rate = 0;
    const void* deviceRate = nullptr; ///< one float64 that replaces rate, or null
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    const void* scale = nullptr; ///< one float32, or null for 1
    const void* skip = nullptr;  ///< one float32; not 0: no parameter and no moment changes; null: never
    void* workspace = nullptr;   ///< 8-byte aligned, at least adamwWorkspace() bytes
    std::size_t workspaceBytes = 0;
};

/// Returns the bytes of workspace that a call needs: three float32 (float64) per tensor.
[[nodiscard]] constexpr std::size_t adamwWorkspace(const AdamW& adamw)
{
    return std::size_t(adamw.tensors) * 3 * (adamw.dataType == DataType::float64 ? 8 : 4);
}

} // namespace residua::kernels
