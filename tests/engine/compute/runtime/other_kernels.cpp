// SPDX-License-Identifier: GPL-3.0-or-later
// A library of kernels of a later version.
#include "kernels/cuda_kernels.h"

extern "C" __attribute__((visibility("default"))) const residua::kernels::CudaKernels* residuaCudaKernels()
{
    static residua::kernels::CudaKernels table{};
    table.version = residua::kernels::kCudaKernelsVersion + 1;
    return &table;
}
