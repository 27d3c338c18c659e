// SPDX-License-Identifier: GPL-3.0-or-later
// The forms of mixForward with a relu gate share these declarations.
#pragma once

#include "kernels/cuda/mix_args.cuh"

namespace residua::kernels::cuda {

/// True if gatedRows() supports the reader: bfloat16 or float32, weights per feature, a relu gate, and a width that is
/// a multiple of 16 bytes and at most 8 KiB (4 KiB for four outputs in bfloat16). Assumes that all tensors are aligned.
bool hasGatedRows(const MixStack& stack);

/// The present sources come first in `index`, then the absent ones.
struct GatedArgs {
    std::int64_t tokens;
    std::int64_t width;
    std::int32_t sources;
    std::int32_t present;
    float eps;
    float perWidth; ///< 1 / width
    const float* weights;
    const float* gateVectors;
    float* gateLogits;
    float* rstd;
    const void* base[kMaxOutputs];
    void* out[kMaxOutputs];
    const void* source[kMaxSources]; ///< of the present ones
    std::int16_t index[kMaxSources]; ///< in the caller's stack
};

/// True if gatedTiles() supports a reader of gatedRows() on the current device: bfloat16, three outputs, a width that
/// is a multiple of 64 up to 768 or a multiple of 128 up to 2048, and enough shared memory.
bool hasGatedTiles(const MixStack& stack);

/// gatedRows() by tensor cores. Requires hasGatedTiles() and a source that is present.
Status gatedTiles(const MixStack& stack, const GatedArgs& args, void* stream);

/// mixForward with a relu gate in one pass over the sources. Requires hasGatedRows() and aligned tensors.
Status gatedRows(const MixForward& mix, void* stream);

} // namespace residua::kernels::cuda
