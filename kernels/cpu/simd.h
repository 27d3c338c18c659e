// SPDX-License-Identifier: GPL-3.0-or-later
// One register of accumulators, for the instruction set that this file is compiled for. Sources under cpu/ with names
// that begin with isa_ are compiled once per instruction set, into the namespace RESIDUA_ISA. They call no inline
// function of the standard library, because the linker could keep a copy made for a newer processor.
#pragma once

#include <cstdint>

namespace residua::kernels::RESIDUA_ISA {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

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

/// The number of columns that one register of accumulators holds for data of type T.
template <class T>
inline constexpr int kLanes = kVectorBytes / int(sizeof(Accumulator<T>));

template <class A>
struct VecOf;
template <>
struct VecOf<float> {
    typedef float Type __attribute__((vector_size(kVectorBytes)));
};
template <>
struct VecOf<double> {
    typedef double Type __attribute__((vector_size(kVectorBytes)));
};
/// A vector of accumulators for data of type T.
template <class T>
using Vec = typename VecOf<Accumulator<T>>::Type;

typedef std::uint32_t Words __attribute__((vector_size(kVectorBytes)));
typedef std::uint16_t Halves __attribute__((vector_size(kVectorBytes / 2)));

template <class To, class From>
inline To bitCast(From from)
{
    static_assert(sizeof(To) == sizeof(From));
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

inline Vec<float> widen(Halves halves)
{
    return bitCast<Vec<float>>(__builtin_convertvector(halves, Words) << 16);
}

/// Rounds to bfloat16, to nearest even; every NaN becomes the quiet NaN.
inline Halves narrow(Vec<float> value)
{
    const Words bits = bitCast<Words>(value);
    const Words rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const Words isNan = bitCast<Words>(value != value);
    return __builtin_convertvector((rounded & ~isNan) | (isNan & 0x7fc0u), Halves);
}

inline float toAccumulator(float value)
{
    return value;
}
inline double toAccumulator(double value)
{
    return value;
}
inline float toAccumulator(Bf16 value)
{
    return bitCast<float>(std::uint32_t(value.bits) << 16);
}

template <class T>
inline Vec<T> load(const T* from)
{
    if constexpr (sizeof(T) == 2) {
        Halves halves;
        __builtin_memcpy(&halves, from, sizeof halves);
        return widen(halves);
    } else {
        Vec<T> value;
        __builtin_memcpy(&value, from, sizeof value);
        return value;
    }
}

template <class T>
inline void store(T* to, Vec<T> value)
{
    if constexpr (sizeof(T) == 2) {
        const Halves halves = narrow(value);
        __builtin_memcpy(to, &halves, sizeof halves);
    } else {
        __builtin_memcpy(to, &value, sizeof value);
    }
}

/// Loads the first `count` lanes and sets the rest to 0.
template <class T>
inline Vec<T> loadPart(const T* from, int count)
{
    T buffer[kLanes<T>] = {};
    for (int i = 0; i < count; ++i)
        buffer[i] = from[i];
    return load(buffer);
}

template <class T>
inline void storePart(T* to, Vec<T> value, int count)
{
    T buffer[kLanes<T>];
    store(buffer, value);
    for (int i = 0; i < count; ++i)
        to[i] = buffer[i];
}

/// Loads a vector. `count` is kLanes for a whole vector; only a row's last vector is shorter.
template <bool part, class T>
inline Vec<T> loadLanes(const T* from, int count)
{
    if constexpr (part)
        return loadPart(from, count);
    else
        return load(from);
}

template <bool part, class T>
inline void storeLanes(T* to, Vec<T> value, int count)
{
    if constexpr (part)
        storePart(to, value, count);
    else
        store(to, value);
}

/// Returns the sum of a vector's elements of type A, by halves, which fixes the order.
template <class A, class V>
inline A sumLanes(V value)
{
    if constexpr (sizeof(V) == 2 * sizeof(A)) {
        return value[0] + value[1];
    } else {
        typedef A Half __attribute__((vector_size(sizeof(V) / 2)));
        struct Pair {
            Half low, high;
        };
        const Pair pair = bitCast<Pair>(value);
        return sumLanes<A>(pair.low + pair.high);
    }
}

/// Returns a vector with the value in every lane (subtracting 0 changes no value, so this is one broadcast).
template <class V, class A>
inline V splat(A value)
{
    return value - V{};
}

/// Returns max(value, 0); NaN stays NaN.
template <class V>
inline V maximumWithZero(V value)
{
    return value < 0 ? V{} : value;
}

/// Calls body.template operator()<vectors, part>(column, lanes) over the columns [0, width): tiles of `Vectors`
/// registers, then single registers, then the rest of the row.
template <class T, int Vectors, class Body>
inline void forTiles(std::int64_t width, Body&& body)
{
    constexpr int lanes = kLanes<T>;
    std::int64_t column = 0;
    for (; column + Vectors * lanes <= width; column += Vectors * lanes)
        body.template operator()<Vectors, false>(column, lanes);
    if constexpr (Vectors > 1)
        for (; column + lanes <= width; column += lanes)
            body.template operator()<1, false>(column, lanes);
    if (column < width)
        body.template operator()<1, true>(column, int(width - column));
}

} // namespace residua::kernels::RESIDUA_ISA
