// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/mix_rows.h"

#include "kernels/cpu/isa_table.h"

namespace residua::kernels::RESIDUA_ISA {
namespace {

template <class T>
void rotateRows(const Rotary& rotary, std::int64_t begin, std::int64_t end)
{
    using A = Accumulator<T>;
    const std::int64_t half = rotary.rotated / 2;
    const A direction = rotary.rotation == Rotation::forward ? A(1) : A(-1);
    for (std::int64_t n = begin; n < end; ++n) {
        const std::int64_t batch = n / rotary.time;
        const std::int64_t time = n % rotary.time;
        const A* cosine = static_cast<const A*>(rotary.cosine) + time * half;
        const A* sine = static_cast<const A*>(rotary.sine) + time * half;
        for (std::int64_t head = 0; head < rotary.heads; ++head) {
            const auto offset = [&](const RotaryStrides& strides) {
                return batch * strides.batch + time * strides.time + head * strides.head;
            };
            const T* in = static_cast<const T*>(rotary.in) + offset(rotary.inStrides);
            T* out = static_cast<T*>(rotary.out) + offset(rotary.outStrides);
            forTiles<T, 1>(half, [&]<int, bool part>(std::int64_t at, int lanes) {
                const Vec<T> c = loadLanes<part>(cosine + at, lanes);
                const Vec<T> s = loadLanes<part>(sine + at, lanes) * direction;
                const Vec<T> low = loadLanes<part>(in + at, lanes);
                const Vec<T> high = loadLanes<part>(in + half + at, lanes);
                storeLanes<part>(out + at, low * c - high * s, lanes);
                storeLanes<part>(out + half + at, high * c + low * s, lanes);
            });
            for (std::int64_t c = rotary.rotated; c < rotary.headWidth; ++c)
                out[c] = in[c];
        }
    }
}

} // namespace

void rotary(const Rotary& rotation, std::int64_t begin, std::int64_t end)
{
    withType(rotation.dataType, [&]<class T>() { rotateRows<T>(rotation, begin, end); });
}

} // namespace residua::kernels::RESIDUA_ISA
