// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/train/optimiser.h"
#include "kernels/cuda_kernels.h"
#include "projects/model/training_plan.h"

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
    double decay = 0;
    std::vector<HeldSlice> untouched; ///< slices along one dimension that keep their values and moments
};

/// One update of all members.
struct AdamWUpdate {
    double rate = 0;
    at::Tensor scale; ///< divides the gradients: one float32 on the device; undefined: 1
    at::Tensor skip;  ///< 1 if nothing may be updated: one float32 on the device
};

/// True if the kernel can update the members: contiguous tensors of one type, float32 or float64, of less than 2^31
/// elements.
[[nodiscard]] bool fitsAdamWKernel(const std::vector<AdamWMember>& members);

/// Updates the members by table.adamw in `stream`, on the current device. Throws c10::Error if the kernel refuses or
/// fails.
void updateByKernel(const kernels::CudaKernels& table, void* stream, const projects::AdamW& plan,
                    const std::vector<AdamWMember>& members, const AdamWUpdate& update);

} // namespace residua::engine
