// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/types.h"

#include <cuda_runtime.h>

namespace residua::kernels::cuda {

/// The dynamic shared memory that leaves room for two blocks on a multiprocessor of every supported architecture.
inline constexpr std::size_t kSharedBytes = 80 * 1024;

/// Stores the error's text for the calling thread.
Status failed(cudaError_t error);

/// Counts a call for CudaKernels::singleElementCalls. Ignores float64, which has only this form.
void countCall(DataType type, bool packed);

/// Lets a block of the kernel have so many bytes of dynamic shared memory on the current device. The limit is never
/// lowered: threads may launch one kernel with different sizes. Thread-safe.
Status allowShared(const void* kernel, std::size_t bytes);

template <class Args>
Status launch(void (*kernel)(Args), dim3 grid, dim3 block, std::size_t sharedBytes, void* stream, const Args& args)
{
    if (sharedBytes > 48 * 1024) {
        const Status allowed = allowShared(reinterpret_cast<const void*>(kernel), sharedBytes);
        if (allowed != Status::ok)
            return allowed;
    }
    void* arguments[] = {const_cast<Args*>(&args)};
    const cudaError_t error =
        cudaLaunchKernel(kernel, grid, block, arguments, sharedBytes, static_cast<cudaStream_t>(stream));
    return error == cudaSuccess ? Status::ok : failed(error);
}

/// Returns the most shared memory that a block may have on the current device, or 0 after an error.
inline std::size_t mostShared()
{
    int device = 0;
    int most = 0;
    const bool found = cudaGetDevice(&device) == cudaSuccess &&
                       cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) == cudaSuccess;
    return found ? std::size_t(most) : 0;
}

/// Returns false if RESIDUA_CUDA_FORMS was "rows" when the library was loaded. The forms on tensor cores are left out
/// then, so that they can be measured against the forms for rows.
bool tensorFormsAreOn();

/// Returns this block's dynamic shared memory.
template <class T>
__device__ inline T* sharedMemory()
{
#ifdef __CUDACC__
    extern __shared__ __align__(16) unsigned char memory[];
#else // on the host, see tests/kernels/emulation
    unsigned char* memory = emulation::dynamicShared();
#endif
    return reinterpret_cast<T*>(memory);
}

} // namespace residua::kernels::cuda
