// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/mix_rows.h"

#include "kernels/cpu/isa_table.h"

namespace residua::kernels::RESIDUA_ISA {
namespace {

/// Returns exp to about 1 ulp: 2^n times the Taylor series on |r| <= ln(2)/2, whose first omitted term is below 6e-9.
inline Vec<float> exponential(Vec<float> x)
{
    typedef std::int32_t Integers __attribute__((vector_size(kVectorBytes)));
    constexpr float kMagic = 12582912.0f; // 1.5·2^23: adding it rounds to an integer, kept in the low bits
    x = x > 88.0f ? splat<Vec<float>>(88.0f) : x;
    x = x < -87.0f ? splat<Vec<float>>(-87.0f) : x;
    const Vec<float> shifted = x * 1.44269504089f + kMagic;
    const Vec<float> n = shifted - kMagic;
    const Vec<float> r = x - n * 0.693359375f + n * 2.12194440e-4f;
    Vec<float> sum = r * (1.0f / 5040) + 1.0f / 720;
    sum = sum * r + 1.0f / 120;
    sum = sum * r + 1.0f / 24;
    sum = sum * r + 1.0f / 6;
    sum = sum * r + 0.5f;
    sum = sum * r + 1.0f;
    sum = sum * r + 1.0f;
    const Integers exponent = bitCast<Integers>(shifted) - 0x4b400000 + 127;
    return sum * bitCast<Vec<float>>(exponent << 23);
}

inline Vec<double> exponential(Vec<double> x)
{
    for (int i = 0; i < kLanes<double>; ++i)
        x[i] = __builtin_exp(x[i]);
    return x;
}

template <class V>
inline V sigmoid(V x)
{
    return 1 / (1 + exponential(-x));
}

template <class T>
void forwardRows(const SwigluForward& swiglu, std::int64_t begin, std::int64_t end)
{
    for (std::int64_t n = begin; n < end; ++n) {
        const T* gate = static_cast<const T*>(swiglu.gate) + n * swiglu.rowStride;
        const T* up = static_cast<const T*>(swiglu.up) + n * swiglu.rowStride;
        T* out = static_cast<T*>(swiglu.out) + n * swiglu.width;
        forTiles<T, 1>(swiglu.width, [&]<int, bool part>(std::int64_t at, int lanes) {
            const Vec<T> value = loadLanes<part>(gate + at, lanes);
            storeLanes<part>(out + at, value * sigmoid(value) * loadLanes<part>(up + at, lanes), lanes);
        });
        if (swiglu.largest)
            static_cast<Accumulator<T>*>(swiglu.largest)[n] = largestOf(out, swiglu.width);
    }
}

template <class T>
void backwardRows(const SwigluBackward& swiglu, std::int64_t begin, std::int64_t end)
{
    for (std::int64_t n = begin; n < end; ++n) {
        const T* gate = static_cast<const T*>(swiglu.gate) + n * swiglu.rowStride;
        const T* up = static_cast<const T*>(swiglu.up) + n * swiglu.rowStride;
        const T* outGrad = static_cast<const T*>(swiglu.outGrad) + n * swiglu.width;
        T* gateGrad = static_cast<T*>(swiglu.gateGrad) + n * swiglu.gradRowStride;
        T* upGrad = static_cast<T*>(swiglu.upGrad) + n * swiglu.gradRowStride;
        forTiles<T, 1>(swiglu.width, [&]<int, bool part>(std::int64_t at, int lanes) {
            const Vec<T> value = loadLanes<part>(gate + at, lanes);
            const Vec<T> other = loadLanes<part>(up + at, lanes);
            const Vec<T> grad = loadLanes<part>(outGrad + at, lanes);
            const Vec<T> open = sigmoid(value);
            storeLanes<part>(gateGrad + at, grad * other * (open + value * open * (1 - open)), lanes);
            storeLanes<part>(upGrad + at, grad * value * open, lanes);
        });
        if (swiglu.largest) {
            const auto ofGate = largestOf(gateGrad, swiglu.width);
            const auto ofUp = largestOf(upGrad, swiglu.width);
            static_cast<Accumulator<T>*>(swiglu.largest)[n] = ofGate > ofUp ? ofGate : ofUp;
        }
    }
}

} // namespace

void swigluForward(const SwigluForward& swiglu, std::int64_t begin, std::int64_t end)
{
    withType(swiglu.dataType, [&]<class T>() { forwardRows<T>(swiglu, begin, end); });
}

void swigluBackward(const SwigluBackward& swiglu, std::int64_t begin, std::int64_t end)
{
    withType(swiglu.dataType, [&]<class T>() { backwardRows<T>(swiglu, begin, end); });
}

} // namespace residua::kernels::RESIDUA_ISA
