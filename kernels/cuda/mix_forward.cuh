// SPDX-License-Identifier: GPL-3.0-or-later
// The two forms of mixForward with a relu gate share these declarations.
#pragma once

#include "kernels/cuda/mix_args.cuh"

namespace residua::kernels::cuda {

/// True if gatedRows() supports the reader: bfloat16 or float32, weights per feature, a relu gate, and a width that is
/// a multiple of 16 bytes and at most 8 KiB (4 KiB for four outputs in bfloat16). Assumes that all tensors are aligned.
bool hasGatedRows(const MixStack& stack);

/// mixForward with a relu gate in one pass over the sources. Requires hasGatedRows() and aligned tensors.
Status gatedRows(const MixForward& mix, void* stream);

} // namespace residua::kernels::cuda
