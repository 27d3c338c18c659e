// SPDX-License-Identifier: GPL-3.0-or-later
// Sums of several values at once over a warp, values that stay in registers, loads of whole packs, and asynchronous
// copies to shared memory.
#pragma once

#include "kernels/cuda/pack.cuh"

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace residua::kernels::cuda {

constexpr int powerOfTwoFrom(int count)
{
    int power = 1;
    while (power < count)
        power *= 2;
    return power;
}

/// Adds each of the first `count` values over the warp. Each step exchanges half of the values that a lane still has,
/// so a value costs about one shuffle and not five. values[0] then is the sum of the value ownedValue<count>(lane).
template <int count, int distance = 16, int size, class A>
__device__ inline void foldOverWarp(A (&values)[size])
{
    if constexpr (distance > 0) {
        static_assert(count <= size && count <= 2 * distance);
        constexpr int half = (count + 1) / 2;
        const bool upper = threadIdx.x & distance;
#pragma unroll
        for (int k = 0; k < half; ++k) {
            if (k + half < count) {
                const A sent = upper ? values[k] : values[k + half];
                const A kept = upper ? values[k + half] : values[k];
                values[k] = kept + __shfl_xor_sync(0xffffffffu, sent, distance);
            } else {
                values[k] += __shfl_xor_sync(0xffffffffu, values[k], distance);
            }
        }
        foldOverWarp<half, distance / 2>(values);
    }
}

/// Returns the index of the value that `lane` has after foldOverWarp(), or -1 if a lower lane has it too.
template <int count, int distance = 16>
__device__ inline int ownedValue(int lane)
{
    if constexpr (distance == 0) {
        return 0;
    } else {
        constexpr int half = (count + 1) / 2;
        const int inner = ownedValue<half, distance / 2>(lane);
        if (inner < 0 || (lane & distance) == 0)
            return inner;
        return inner + half < count ? inner + half : -1;
    }
}

/// Loads 8 or 16 bytes. Needs one instruction less than load() for every second bfloat16 number.
__device__ inline void loadWords(const float* from, float (&to)[4])
{
    load(from, to);
}
template <int L>
__device__ inline void loadWords(const Bf16* from, float (&to)[L])
{
    const auto words = *reinterpret_cast<const Pack<std::uint32_t, L / 2>*>(from);
#pragma unroll
    for (int w = 0; w < L / 2; ++w) {
        to[2 * w] = __uint_as_float(words.element[w] << 16);
        to[2 * w + 1] = __uint_as_float(words.element[w] & 0xffff0000u);
    }
}

/// Returns the value. Computing it again would need a shuffle, so the compiler keeps it in a register.
template <class T>
__device__ inline T kept(T value)
{
    return __shfl_sync(0xffffffffu, value, int(threadIdx.x % 32));
}

/// Returns the policy for rows that are read once: the second-level cache evicts them first.
__device__ inline std::uint64_t readOncePolicy()
{
    std::uint64_t policy = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#endif
    return policy;
}

/// Starts a copy of 16 bytes to shared memory, as __pipeline_memcpy_async does, with a policy of readOncePolicy().
__device__ inline void copyReadOnce(void* to, const void* from, std::uint64_t policy)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(unsigned(__cvta_generic_to_shared(to))),
        "l"(from), "l"(policy)
        : "memory");
#else
    static_cast<void>(policy);
    __pipeline_memcpy_async(to, from, 16);
#endif
}

} // namespace residua::kernels::cuda
