// SPDX-License-Identifier: GPL-3.0-or-later
// The runtime's functions: launches with the limits of a device, errors and their texts.
#include "tests/kernels/emulation/emulator.h"

#include <map>

using namespace residua::emulation;

namespace {

// The least of sm_80, sm_90 and sm_100.
constexpr std::size_t kSharedWithoutAsking = 48 * 1024;
constexpr int kSharedAtMost = 163 * 1024;
constexpr std::size_t kArgumentsAtMost = 32764;

cudaError_t planned = cudaSuccess;
cudaError_t last = cudaSuccess;
std::map<const void*, int> sharedLimits;

cudaError_t result(cudaError_t error)
{
    if (error != cudaSuccess)
        last = error;
    return error;
}

/// The error that failNextCall() asked for, once.
cudaError_t takePlanned()
{
    return result(std::exchange(planned, cudaSuccess));
}

bool launchable(const LaunchCall& call, dim3 grid, dim3 block, std::size_t sharedBytes)
{
    const auto limit = sharedLimits.find(call.kernel);
    // Only a kernel's request for more memory raises the limit of its dynamic shared memory.
    const bool asked = limit != sharedLimits.end();
    const std::size_t shared = asked ? std::size_t(kSharedAtMost) : std::size_t(kSharedWithoutAsking);
    const bool isWithin = !asked || sharedBytes <= std::size_t(limit->second);
    const std::size_t threads = std::size_t(block.x) * block.y * block.z;
    return threads > 0 && threads <= kMaxThreads && grid.x > 0 && grid.x <= 0x7fffffff && grid.y > 0 &&
           grid.y <= 65535 && grid.z > 0 && grid.z <= 65535 && isWithin &&
           sharedBytes + call.staticSharedBytes <= shared && call.argumentBytes <= kArgumentsAtMost;
}

} // namespace

namespace residua::emulation {

void failNextCall(cudaError_t error)
{
    planned = error;
}

cudaError_t launch(const LaunchCall& call, dim3 grid, dim3 block, std::size_t sharedBytes)
{
    if (takePlanned() != cudaSuccess)
        return last;
    if (!launchable(call, grid, block, sharedBytes))
        return result(cudaErrorInvalidConfiguration);
    beginLaunch(call, sharedBytes);
    gridDim = grid;
    blockDim = block;
    // The first fault of a block ends the launch after that block.
    for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z)
        for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
            for (blockIdx.x = 0; blockIdx.x < grid.x && firstReport().empty(); ++blockIdx.x) {
                beginBlock();
                runBlock(block, call);
            }
    endLaunch();
    return result(firstReport().empty() ? cudaSuccess : cudaErrorLaunchFailure);
}

cudaError_t setSharedLimit(const void* kernel, int bytes)
{
    if (takePlanned() != cudaSuccess)
        return last;
    if (bytes < 0 || bytes > kSharedAtMost)
        return result(cudaErrorInvalidValue);
    sharedLimits[kernel] = bytes;
    return cudaSuccess;
}

} // namespace residua::emulation

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind)
{
    if (!isDevice(kind == cudaMemcpyHostToDevice ? to : from, bytes))
        return result(cudaErrorInvalidValue);
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t)
{
    if (takePlanned() != cudaSuccess)
        return last;
    if (!isDevice(to, bytes))
        return result(cudaErrorInvalidValue);
    std::memset(to, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count)
{
    *count = 1;
    return takePlanned();
}

cudaError_t cudaGetDevice(int* device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device)
{
    if (attribute != cudaDevAttrMaxSharedMemoryPerBlockOptin || device != 0)
        return result(cudaErrorInvalidValue);
    *value = kSharedAtMost;
    return cudaSuccess;
}

cudaError_t cudaGetLastError()
{
    return std::exchange(last, cudaSuccess);
}

const char* cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorInvalidValue:
        return "invalid argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInvalidConfiguration:
        return "invalid configuration argument";
    case cudaErrorInsufficientDriver:
        return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorInvalidDeviceFunction:
        return "invalid device function";
    case cudaErrorNoDevice:
        return "no CUDA-capable device is detected";
    case cudaErrorNoKernelImageForDevice:
        return "no kernel image is available for execution on the device";
    case cudaErrorLaunchFailure:
        return firstReport().empty() ? "unspecified launch failure" : firstReport().c_str();
    }
    return "unrecognized error code";
}
