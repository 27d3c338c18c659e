// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/train/optimiser.h"
#include "engine/compute/train/updates.h"
#include "kernels/cuda_kernels.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace residua::engine {

/// A parameter that the CUDA kernel of AdamW updates.
struct AdamWMember {
    at::Tensor parameter;
    at::Tensor gradient;
    at::Tensor mean;
    at::Tensor square;
    at::Tensor updates; ///< float32: the number of earlier updates
    at::Tensor held;    ///< true for elements that keep their values; undefined: none
    at::Tensor rounded; ///< bfloat16: the copy that the kernel writes too; undefined: none
    double decay = 0;
    std::vector<HeldSlice> untouched; ///< slices along one dimension that keep their values and moments
};

/// True if the kernel can update the members: contiguous tensors of one type, float32 or float64, of less than 2^31
/// elements. Rounded copies have the layout of their parameters, which are float32.
[[nodiscard]] bool fitsAdamWKernel(const std::vector<AdamWMember>& members);

/// Updates the members by table.adamw in `stream`, on the current device, where scale and skip of the step are one
/// float32 each. Throws c10::Error if the kernel refuses or fails.
void updateByKernel(const kernels::CudaKernels& table, void* stream, const projects::AdamW& plan,
                    const std::vector<AdamWMember>& members, const UpdateStep& step);

} // namespace residua::engine
