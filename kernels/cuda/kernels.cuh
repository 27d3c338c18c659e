// SPDX-License-Identifier: GPL-3.0-or-later
// What the table of this library points at; the contracts are CudaKernels'.
#pragma once

#include "kernels/cuda_kernels.h"

namespace residua::kernels::cuda {

Status mixForward(const MixForward& mix, void* stream);
Status mixWeightGrad(const MixWeightGrad& mix, void* stream);
Status mixGather(const MixGather& mix, void* stream);
std::size_t mixWeightGradWorkspace(const MixWeightGrad& mix);

} // namespace residua::kernels::cuda
