// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of RMSNorm and LayerNorm, for the forward and the backward kernel, and the largest magnitude in a row. The
// threads along x of a block share a row, and each keeps its packs of the row in registers, so that memory is read
// once. If a row has more packs than kHeld times the maximum number of threads, the rest is read a second time, from a
// cache.
#pragma once

#include "kernels/cuda/kernels.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_args.cuh"

namespace residua::kernels::cuda {

inline constexpr int kHeld = 4; ///< packs of a row in a thread's registers
inline constexpr int kSlots = 2 * kWarps;

/// Returns the sum over the threads of a row, in each of them. Must be called by every thread of the block, alternating
/// between the halves of `slots` [kSlots] from call to call.
template <class A>
__device__ inline A rowSum(A value, A* slots, int half)
{
    value = warpSum(value);
    if (blockDim.x == 32)
        return value;
    const unsigned warps = blockDim.x / 32;
    A* row = slots + half * kWarps + threadIdx.y * warps;
    if (threadIdx.x % 32 == 0)
        row[threadIdx.x / 32] = value;
    __syncthreads();
    A sum = 0;
    for (unsigned warp = 0; warp < warps; ++warp)
        sum += row[warp];
    return sum;
}

/// Returns the larger of `most` and the magnitude of `value`; `most` for NaN.
template <class A>
__device__ inline A larger(A most, A value)
{
    value = value < 0 ? -value : value;
    return value > most ? value : most;
}

/// Stores the largest magnitude that the threads of row `n` have, rounded to T as the row was stored, in largest[n] if
/// n < tokens. Must be called by every thread of the block; `slots` as in rowSum().
template <class T, class A>
__device__ inline void storeLargest(A most, void* largest, std::int64_t n, std::int64_t tokens, A* slots, int half)
{
    for (int distance = 16; distance > 0; distance /= 2)
        most = larger(most, A(__shfl_xor_sync(0xffffffffu, most, distance)));
    if (blockDim.x > 32) {
        const unsigned warps = blockDim.x / 32;
        A* row = slots + half * kWarps + threadIdx.y * warps;
        if (threadIdx.x % 32 == 0)
            row[threadIdx.x / 32] = most;
        __syncthreads();
        for (unsigned warp = 0; warp < warps && threadIdx.x == 0; ++warp)
            most = larger(most, row[warp]);
    }
    if (n < tokens && threadIdx.x == 0) {
        T stored;
        narrow(stored, most);
        static_cast<A*>(largest)[n] = widen(stored);
    }
}

template <int L, class T>
__device__ inline Pack<T, L> packAt(const void* tensor, std::int64_t at)
{
    return *reinterpret_cast<const Pack<T, L>*>(static_cast<const T*>(tensor) + at);
}

template <int L, class T>
__device__ inline Pack<T, L>& packAt(void* tensor, std::int64_t at)
{
    return *reinterpret_cast<Pack<T, L>*>(static_cast<T*>(tensor) + at);
}

/// Loads vector[at ..], or `otherwise`.
template <int L, class A>
__device__ inline void loadOr(A otherwise, const void* vector, std::int64_t at, A (&to)[L])
{
    if (vector) {
        load(static_cast<const A*>(vector) + at, to);
        return;
    }
#pragma unroll
    for (int l = 0; l < L; ++l)
        to[l] = otherwise;
}

/// Returns the block's dimensions: threads along x for a row of `packs` packs, and as many rows as fill the block.
inline dim3 blockFor(std::int64_t packs)
{
    unsigned threads = 32;
    while (threads < kThreads && threads * kHeld < packs)
        threads *= 2;
    return dim3(threads, kThreads / threads);
}

template <class Body>
Status withKind(NormKind kind, Body body)
{
    return kind == NormKind::layer ? body(Constant<1>()) : body(Constant<0>());
}

/// Calls body with the types of the data and of y, with the number of elements in a pack, and with 1 for a layer norm.
template <class Norm, class Body>
Status withForm(const Norm& norm, bool packed, Body body)
{
    return withKind(norm.kind, [&](auto centred) {
        switch (norm.dataType) {
        case DataType::float32:
            if (norm.bfloat16Output)
                return packed ? body(float(), Bf16(), Constant<4>(), centred)
                              : body(float(), Bf16(), Constant<1>(), centred);
            return packed ? body(float(), float(), Constant<4>(), centred)
                          : body(float(), float(), Constant<1>(), centred);
        case DataType::bfloat16:
            return packed ? body(Bf16(), Bf16(), Constant<8>(), centred) : body(Bf16(), Bf16(), Constant<1>(), centred);
        case DataType::float64:
            return body(double(), double(), Constant<1>(), centred);
        }
        return Status::badKind;
    });
}

template <class... Pointers>
bool packable(DataType type, std::int64_t width, Pointers... pointers)
{
    return width % (type == DataType::bfloat16 ? 8 : 4) == 0 && (... && aligned(pointers));
}

} // namespace residua::kernels::cuda
