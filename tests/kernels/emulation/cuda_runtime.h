// SPDX-License-Identifier: GPL-3.0-or-later
// Stands in for CUDA's header of this name: with it the host's compiler compiles .cu sources, and their kernels run on
// the host (emulator.h). Has the part of CUDA that our kernels and their tests use.
#pragma once

#include <math.h> // sqrt and others for float and double, in the global namespace

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
// Blocks run one after the other, so that they can share one array. launch.cuh has the dynamic form.
#define __shared__ static __attribute__((section("emulated_shared")))

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned inX = 1, unsigned inY = 1, unsigned inZ = 1) : x(inX), y(inY), z(inZ) {}
};

enum cudaError_t : int {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInsufficientDriver = 35,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorNoDevice = 100,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorLaunchFailure = 719, ///< here also what the emulator found; its text says what
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum cudaDeviceAttr { cudaDevAttrMaxSharedMemoryPerBlockOptin = 97 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
using cudaStream_t = struct EmulatedStream*;

extern "C" __attribute__((weak, visibility("hidden"))) unsigned char __start_emulated_shared[];
extern "C" __attribute__((weak, visibility("hidden"))) unsigned char __stop_emulated_shared[];

#pragma GCC visibility push(default)

namespace residua::emulation {

/// Of the thread that runs now.
struct Indices {
    uint3 thread;
    uint3 block;
    dim3 blockSize;
    dim3 gridSize;
};
extern Indices indices;

} // namespace residua::emulation

#define threadIdx residua::emulation::indices.thread
#define blockIdx residua::emulation::indices.block
#define blockDim residua::emulation::indices.blockSize
#define gridDim residua::emulation::indices.gridSize

void __syncthreads();
void __syncwarp(unsigned mask = 0xffffffffu);
unsigned __ballot_sync(unsigned mask, int predicate);

cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t error);

namespace residua::emulation {

/// This block's dynamic shared memory.
unsigned char* dynamicShared();

/// The lane of the calling thread, 0 .. 31.
int lane();

/// Each lane of `mask` gives a value and gets that of lane `from`.
std::uint64_t shuffleBits(unsigned mask, std::uint64_t value, int from);

/// The instruction mma.m16n8k16 for bfloat16, with the elements of each lane that PTX defines. Sums in double.
void multiplyAdd(float (&sums)[4], const std::uint32_t (&left)[4], const std::uint32_t (&right)[2]);

/// The instruction ldmatrix.x4: lane i gives the address of row i % 8 of matrix i / 8.
void loadMatrices(std::uint32_t (&words)[4], const void* row);

/// The instruction ldmatrix.x4.trans.
void loadTransposedMatrices(std::uint32_t (&words)[4], const void* row);

struct LaunchCall {
    const void* kernel;
    void (*call)(const void* kernel, void** arguments);
    void** arguments;
    std::size_t argumentBytes;
    unsigned char* staticShared;
    std::size_t staticSharedBytes;
};
cudaError_t launch(const LaunchCall& call, dim3 grid, dim3 block, std::size_t sharedBytes);
cudaError_t setSharedLimit(const void* kernel, int bytes);

// Reads the arguments, which are the caller's memory and not the device's.
template <class... Args, std::size_t... Index>
__attribute__((no_sanitize("thread"))) void callWith(void (*kernel)(Args...), void** arguments,
                                                     std::index_sequence<Index...>)
{
    kernel(*static_cast<Args*>(arguments[Index])...);
}

template <class T>
T shuffle(unsigned mask, T value, int from)
{
    static_assert(sizeof(T) <= 8);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    bits = shuffleBits(mask, bits, from);
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

} // namespace residua::emulation

#pragma GCC visibility pop

template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32)
{
    const int lane = residua::emulation::lane();
    return residua::emulation::shuffle(mask, value, (lane & ~(width - 1)) | (from & (width - 1)));
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
    const int lane = residua::emulation::lane();
    const int from = lane ^ bits;
    return residua::emulation::shuffle(mask, value, from < (lane & ~(width - 1)) + width ? from : lane);
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32)
{
    const int lane = residua::emulation::lane();
    const int from = lane - int(distance);
    return residua::emulation::shuffle(mask, value, from >= (lane & ~(width - 1)) ? from : lane);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32)
{
    const int lane = residua::emulation::lane();
    const int from = lane + int(distance);
    return residua::emulation::shuffle(mask, value, from < (lane & ~(width - 1)) + width ? from : lane);
}

inline int __any_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}

inline int __all_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) == mask;
}

template <class T>
T __ldg(const T* from)
{
    return *from;
}

inline float __uint_as_float(unsigned bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

inline unsigned __float_as_uint(float value)
{
    unsigned bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

template <class T>
cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute, int value)
{
    return residua::emulation::setSharedLimit(reinterpret_cast<const void*>(kernel), value);
}

template <class... Args>
cudaError_t cudaLaunchKernel(void (*kernel)(Args...), dim3 grid, dim3 block, void** arguments, std::size_t sharedBytes,
                             cudaStream_t)
{
    const auto call = [](const void* function, void** values) {
        residua::emulation::callWith(reinterpret_cast<void (*)(Args...)>(const_cast<void*>(function)), values,
                                     std::index_sequence_for<Args...>());
    };
    return residua::emulation::launch({reinterpret_cast<const void*>(kernel), call, arguments, (sizeof(Args) + ... + 0),
                                       __start_emulated_shared,
                                       std::size_t(__stop_emulated_shared - __start_emulated_shared)},
                                      grid, block, sharedBytes);
}
