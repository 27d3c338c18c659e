// SPDX-License-Identifier: GPL-3.0-or-later
// Shared parts of forward, weight gradient and gather: sizes of token blocks, dot products over a row, relu.
#pragma once

#include "kernels/cpu/simd.h"
#include "kernels/depth_mix.h"

namespace residua::kernels::RESIDUA_ISA {

/// The number of tokens by which rows are prefetched before their use.
inline constexpr int kPrefetchTokens = 2;

inline std::int64_t clamp(std::int64_t value, std::int64_t low, std::int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

template <class A>
inline A relu(A value)
{
    return value < 0 ? A(0) : value;
}
inline float inverseRoot(float value)
{
    return 1.0f / __builtin_sqrtf(value);
}
inline double inverseRoot(double value)
{
    return 1.0 / __builtin_sqrt(value);
}

template <class A>
inline A reluGrad(A value, ReluGradAtZero atZero)
{
    return value > 0 || (value == 0 && atZero == ReluGradAtZero::one) ? A(1) : A(0);
}

/// Returns the part of the weight that is one number per (token, source): all of it, or the part combined with a
/// per-feature weight. `token` is γ or the logit z, `a` the scalar weight or 0.
template <class A>
inline A tokenCoefficient(GateKind gate, bool perFeature, A a, A token)
{
    switch (gate) {
    case GateKind::none:
        return a;
    case GateKind::token:
        return a + token;
    case GateKind::reluOutside:
        return a + relu(token);
    case GateKind::reluInside:
        return perFeature ? token : relu(a + token);
    }
    return a;
}

/// Returns relu'(value)·result in every lane.
template <class V>
inline V reluMasked(V value, V result, ReluGradAtZero atZero)
{
    return atZero == ReluGradAtZero::one ? (value >= 0 ? result : V{}) : (value > 0 ? result : V{});
}

/// The sources that are present, in order.
template <class T>
struct Present {
    const T* row[kMaxSources];
    std::int32_t index[kMaxSources];
    std::int32_t count = 0;

    explicit Present(const MixStack& stack)
    {
        for (std::int32_t s = 0; s < stack.sources; ++s) {
            if (stack.source[s]) {
                row[count] = static_cast<const T*>(stack.source[s]);
                index[count++] = s;
            }
        }
    }
};

/// The number of rows that one pass over shared operands serves; more would not fit in the registers.
inline constexpr int kRows = kVectorBytes == 64 ? 4 : 2;

/// Returns the largest magnitude in a row, NaN not counted.
template <class T>
inline Accumulator<T> largestOf(const T* row, std::int64_t width)
{
    Vec<T> most = {};
    forTiles<T, 1>(width, [&]<int, bool part>(std::int64_t at, int lanes) {
        const Vec<T> value = loadLanes<part>(row + at, lanes);
        const Vec<T> magnitude = value < 0 ? -value : value;
        most = magnitude > most ? magnitude : most;
    });
    Accumulator<T> largest = 0;
    for (int lane = 0; lane < kLanes<T>; ++lane)
        largest = most[lane] > largest ? most[lane] : largest;
    return largest;
}

/// Computes products[r][o] = <x[r], other[o]> and, if requested, squares[r] = <x[r], x[r]> over the rows.
template <bool withSquares, int R, int O, class T, class W>
inline void dots(const T* const (&x)[R], const W* const (&other)[O], std::int64_t width, Accumulator<T> (*products)[O],
                 Accumulator<T>* squares = nullptr)
{
    // A few sums alone would wait for each other's latency, so each gets a second accumulator.
    constexpr int chains = R * O < 4 ? 2 : 1;
    Vec<T> sums[R][O][chains] = {};
    Vec<T> own[R] = {};
    forTiles<T, chains>(width, [&]<int V, bool part>(std::int64_t column, int lanes) {
        for (int v = 0; v < V; ++v) {
            const std::int64_t at = column + v * kLanes<T>;
            Vec<T> operand[O];
            for (int o = 0; o < O; ++o)
                operand[o] = loadLanes<part>(other[o] + at, lanes);
            for (int r = 0; r < R; ++r) {
                const Vec<T> value = loadLanes<part>(x[r] + at, lanes);
                for (int o = 0; o < O; ++o)
                    sums[r][o][v] += value * operand[o];
                if constexpr (withSquares)
                    own[r] += value * value;
            }
        }
    });
    for (int r = 0; r < R; ++r) {
        for (int o = 0; o < O; ++o)
            products[r][o] =
                sumLanes<Accumulator<T>>(chains == 2 ? sums[r][o][0] + sums[r][o][chains - 1] : sums[r][o][0]);
        if constexpr (withSquares)
            squares[r] = sumLanes<Accumulator<T>>(own[r]);
    }
}

/// Calls body.template operator()<R>(i) for groups of R = Rows items and then for single ones, to cover [0, count).
template <int Rows, class Body>
inline void forGroups(std::int64_t count, Body&& body)
{
    std::int64_t i = 0;
    for (; i + Rows <= count; i += Rows)
        body.template operator()<Rows>(i);
    if constexpr (Rows > 1)
        for (; i < count; ++i)
            body.template operator()<1>(i);
}

/// Prefetches the cache lines of `bytes` bytes for another loop. Prefetching beyond a tensor's end is harmless.
inline void prefetch(const void* from, int bytes)
{
    for (int at = 0; at < bytes; at += 64)
        __builtin_prefetch(static_cast<const char*>(from) + at, 0, 2);
}

/// Calls body with the C++ type of the data type.
template <class Body>
inline void withType(DataType type, Body&& body)
{
    switch (type) {
    case DataType::float32:
        return body.template operator()<float>();
    case DataType::bfloat16:
        return body.template operator()<Bf16>();
    case DataType::float64:
        return body.template operator()<double>();
    }
}

/// Calls body with the number of outputs as a constant.
template <class Body>
inline void withOutputs(int outputs, Body&& body)
{
    switch (outputs) {
    case 1:
        return body.template operator()<1>();
    case 2:
        return body.template operator()<2>();
    case 3:
        return body.template operator()<3>();
    default:
        return body.template operator()<4>();
    }
}

} // namespace residua::kernels::RESIDUA_ISA
