// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/mix_rows.h"

#include "kernels/cpu/isa_table.h"

#if defined(__SSE2__)
// GCC 12 warns of a register in its own header that an intrinsic leaves undefined on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#endif

namespace residua::kernels::RESIDUA_ISA {
namespace {

typedef std::uint64_t Wide __attribute__((vector_size(kVectorBytes)));

/// Returns the 64-bit products of the lower halves of each lane.
inline Wide lowProducts(Wide a, Wide b)
{
#if defined(__AVX512F__)
    return bitCast<Wide>(_mm512_mul_epu32(bitCast<__m512i>(a), bitCast<__m512i>(b)));
#elif defined(__AVX2__)
    return bitCast<Wide>(_mm256_mul_epu32(bitCast<__m256i>(a), bitCast<__m256i>(b)));
#elif defined(__SSE2__)
    return bitCast<Wide>(_mm_mul_epu32(bitCast<__m128i>(a), bitCast<__m128i>(b)));
#else
    return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

/// The halves of 64-bit products.
struct Products {
    Words high;
    Words low;
};

inline Products products(Words x, std::uint32_t factor)
{
    const Wide factors = Wide{} + factor;
    const Wide even = lowProducts(bitCast<Wide>(x), factors);
    const Wide odd = lowProducts(bitCast<Wide>(x) >> 32, factors);
    const Wide upper = Wide{} + 0xffffffff00000000u;
    return {bitCast<Words>((even >> 32) | (odd & upper)), bitCast<Words>((even & ~upper) | (odd << 32))};
}

/// Writes the draws of a group's elements in their order.
inline void drawGroup(std::uint32_t* draws, std::uint64_t key, std::uint64_t example, std::uint64_t group)
{
    constexpr int kLanesHere = kVectorBytes / 4;
    const std::uint64_t first = group * kDropoutCounters; // a group does not cross a multiple of 2³²
    Words lane;
    for (int i = 0; i < kLanesHere; ++i)
        lane[i] = std::uint32_t(i);
    for (int at = 0; at < kDropoutCounters; at += kLanesHere) {
        Words x0 = lane + (std::uint32_t(first) + std::uint32_t(at));
        Words x1 = Words{} + std::uint32_t(first >> 32);
        Words x2 = Words{} + std::uint32_t(example);
        Words x3 = Words{} + std::uint32_t(example >> 32);
        std::uint32_t k0 = std::uint32_t(key);
        std::uint32_t k1 = std::uint32_t(key >> 32);
        for (int round = 0; round < kPhiloxRounds; ++round) {
            const Products a = products(x0, kPhiloxFirst);
            const Products b = products(x2, kPhiloxSecond);
            x0 = b.high ^ x1 ^ k0;
            x2 = a.high ^ x3 ^ k1;
            x1 = b.low;
            x3 = a.low;
            k0 += kPhiloxKeyFirst;
            k1 += kPhiloxKeySecond;
        }
        __builtin_memcpy(draws + at, &x0, sizeof x0);
        __builtin_memcpy(draws + kDropoutCounters + at, &x1, sizeof x1);
        __builtin_memcpy(draws + 2 * kDropoutCounters + at, &x2, sizeof x2);
        __builtin_memcpy(draws + 3 * kDropoutCounters + at, &x3, sizeof x3);
    }
}

template <class T>
void dropGroups(const Dropout& dropout, std::int64_t begin, std::int64_t end)
{
    using A = Accumulator<T>;
    const std::int64_t groups = (dropout.width + kDropoutGroup - 1) / kDropoutGroup;
    const std::uint64_t key = dropout.draws[0] ^ dropout.stream;
    std::uint32_t draws[kDropoutGroup];
    A factor[kDropoutGroup];
    for (std::int64_t g = begin; g < end; ++g) {
        const std::int64_t example = g / groups;
        const std::int64_t column = g % groups * kDropoutGroup;
        const std::int64_t left = dropout.width - column;
        drawGroup(draws, key, dropout.draws[1] + std::uint64_t(example), std::uint64_t(g % groups));
        for (int i = 0; i < kDropoutGroup; ++i)
            factor[i] = draws[i] < dropout.threshold ? A(0) : A(dropout.scale);
        const T* in = static_cast<const T*>(dropout.in) + example * dropout.width + column;
        T* out = static_cast<T*>(dropout.out) + example * dropout.width + column;
        forTiles<T, 1>(left < kDropoutGroup ? left : kDropoutGroup, [&]<int, bool part>(std::int64_t at, int lanes) {
            storeLanes<part>(out + at, loadLanes<part>(in + at, lanes) * load(factor + at), lanes);
        });
    }
}

} // namespace

void dropout(const Dropout& dropout, std::int64_t begin, std::int64_t end)
{
    withType(dropout.dataType, [&]<class T>() { dropGroups<T>(dropout, begin, end); });
}

} // namespace residua::kernels::RESIDUA_ISA
