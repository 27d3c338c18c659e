// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/kernels.cuh"
#include "kernels/cuda/launch.cuh"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

namespace residua::kernels::cuda {
namespace {

thread_local cudaError_t lastFailure = cudaSuccess;
std::atomic<std::uint64_t> callsByElement{0};

const bool tensorForms = [] {
    const char* forms = std::getenv("RESIDUA_CUDA_FORMS");
    return forms == nullptr || std::strcmp(forms, "rows") != 0;
}();

std::mutex limitsMutex;
std::map<std::pair<const void*, int>, std::size_t> limits; ///< of shared memory, by kernel and device

std::int32_t deviceCount()
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
        static_cast<void>(failed(error));
        return 0;
    }
    return count;
}

const char* lastError()
{
    return cudaGetErrorString(lastFailure);
}

std::uint64_t singleElementCalls()
{
    return callsByElement;
}

} // namespace

Status failed(cudaError_t error)
{
    lastFailure = error;
    // Clears the runtime's stored error, which a later, unrelated call would otherwise return.
    static_cast<void>(cudaGetLastError());
    return Status::deviceFailure;
}

Status allowShared(const void* kernel, std::size_t bytes)
{
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error != cudaSuccess)
        return failed(error);
    const std::lock_guard<std::mutex> lock(limitsMutex);
    std::size_t& limit = limits[{kernel, device}];
    if (bytes <= limit)
        return Status::ok;
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
    if (error != cudaSuccess)
        return failed(error);
    limit = bytes;
    return Status::ok;
}

bool tensorFormsAreOn()
{
    return tensorForms;
}

void countCall(DataType type, bool packed)
{
    if (!packed && type != DataType::float64)
        ++callsByElement;
}

} // namespace residua::kernels::cuda

extern "C" __attribute__((visibility("default"))) const residua::kernels::CudaKernels* residuaCudaKernels()
{
    using namespace residua::kernels;
    static constexpr CudaKernels kTable = {kCudaKernelsVersion,
                                           cuda::mixForward,
                                           cuda::mixWeightGrad,
                                           cuda::mixGather,
                                           cuda::mixWeightGradWorkspace,
                                           cuda::deviceCount,
                                           cuda::lastError,
                                           cuda::singleElementCalls,
                                           cuda::normForward,
                                           cuda::normBackward,
                                           cuda::normBackwardWorkspace,
                                           cuda::swigluForward,
                                           cuda::swigluBackward,
                                           cuda::rotary,
                                           cuda::crossEntropy,
                                           cuda::adamw,
                                           cuda::sinkhornForward,
                                           cuda::sinkhornBackward,
                                           cuda::dropout,
                                           cuda::streamsForward,
                                           cuda::streamsBackward,
                                           cuda::streamsBackwardWorkspace};
    return &kTable;
}
