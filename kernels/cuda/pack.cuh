// SPDX-License-Identifier: GPL-3.0-or-later
// Short runs of adjacent elements in registers, in the accumulator's type.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace residua::kernels::cuda {

struct Bf16 {
    std::uint16_t bits;
};

template <class T>
struct AccumulatorOf {
    using Type = float;
};
template <>
struct AccumulatorOf<double> {
    using Type = double;
};
template <class T>
using Accumulator = typename AccumulatorOf<T>::Type;

__device__ inline float widen(float value)
{
    return value;
}
__device__ inline double widen(double value)
{
    return value;
}
__device__ inline float widen(Bf16 value)
{
    return __uint_as_float(std::uint32_t(value.bits) << 16);
}

__device__ inline void narrow(float& to, float value)
{
    to = value;
}
__device__ inline void narrow(double& to, double value)
{
    to = value;
}
/// Rounds to nearest even; every NaN becomes the quiet NaN.
__device__ inline void narrow(Bf16& to, float value)
{
    const std::uint32_t bits = __float_as_uint(value);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    to.bits = std::uint16_t(value != value ? 0x7fc0u : rounded);
}

/// L elements that are loaded or stored in one instruction if L·sizeof(T) allows it.
template <class T, int L>
struct alignas(sizeof(T) * L < 16 ? sizeof(T) * L : 16) Pack {
    T element[L];
};

template <int L, class T>
__device__ inline void load(const T* from, Accumulator<T> (&to)[L])
{
    const Pack<T, L> pack = *reinterpret_cast<const Pack<T, L>*>(from);
#pragma unroll
    for (int l = 0; l < L; ++l)
        to[l] = widen(pack.element[l]);
}

template <int L, class T>
__device__ inline void store(T* to, const Accumulator<T> (&from)[L])
{
    Pack<T, L> pack;
#pragma unroll
    for (int l = 0; l < L; ++l)
        narrow(pack.element[l], from[l]);
    *reinterpret_cast<Pack<T, L>*>(to) = pack;
}

/// 16 bytes of adjacent elements.
struct alignas(16) Words {
    std::uint32_t word[4];
};

/// Returns the elements as float32. Reads whole words, which takes fewer instructions than 16-bit elements.
__device__ inline void widen(const Words& from, float (&to)[4])
{
#pragma unroll
    for (int w = 0; w < 4; ++w)
        to[w] = __uint_as_float(from.word[w]);
}
__device__ inline void widen(const Words& from, float (&to)[8])
{
#pragma unroll
    for (int w = 0; w < 4; ++w) {
        to[2 * w] = __uint_as_float(from.word[w] << 16);
        to[2 * w + 1] = __uint_as_float(from.word[w] & 0xffff0000u);
    }
}

/// Loads what this kernel only reads, and reads once: leaves the L1 cache to other data.
__device__ inline Words loadOnce(const void* from)
{
#ifdef __CUDACC__
    Words words;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(words.word[0]), "=r"(words.word[1]), "=r"(words.word[2]), "=r"(words.word[3])
        : "l"(from));
    return words;
#else // on the host, see tests/kernels/emulation
    return *static_cast<const Words*>(from);
#endif
}

/// Returns the sum over the warp, in every lane.
template <class A>
__device__ inline A warpSum(A value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

/// Returns max(value, 0); NaN stays NaN.
template <class A>
__device__ inline A relu(A value)
{
    return value < 0 ? A(0) : value;
}

} // namespace residua::kernels::cuda
