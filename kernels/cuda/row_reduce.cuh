// SPDX-License-Identifier: GPL-3.0-or-later
// Sums of several values over the lanes of a warp at once. Each step halves the number of values that a lane holds, so
// n values take about n + 5 shuffles in place of 5·n.
#pragma once

#include <cuda_runtime.h>

namespace residua::kernels::cuda {

constexpr int powerOfTwoFrom(int count)
{
    int power = 1;
    while (power < count)
        power *= 2;
    return power;
}

/// Returns how many of `count` values the lower lanes keep in one step. Odd counts are padded to a power of two, so
/// that later steps have even counts.
constexpr int keptOf(int count)
{
    return count % 2 == 0 ? count / 2 : powerOfTwoFrom(count) / 2;
}

/// The value whose sum a lane has after warpSums().
struct LaneValue {
    int index;
    bool isFirst; ///< false if the lane has no sum, or a lower lane has the same one
};

template <int count>
__device__ inline LaneValue laneValue(int lane)
{
    int index = 0;
    int paddedFrom = 0;
    bool isFirst = true;
    bool isPadded = false;
#pragma unroll
    for (int distance = 16, held = count; distance > 0; distance /= 2) {
        const bool upper = (lane & distance) != 0;
        if (held == 1) {
            isFirst = isFirst && !upper;
            continue;
        }
        if (held % 2 != 0) {
            isPadded = true;
            paddedFrom = index + held;
        }
        held = keptOf(held);
        index += upper ? held : 0;
    }
    return {index, isFirst && !(isPadded && index >= paddedFrom)};
}

/// Returns the sum over the warp of values[laneValue<count>(lane).index]. Overwrites `values`, of which the first
/// `held` count.
template <int count, int held = count, int distance = 16, class A>
__device__ inline A warpSums(A (&values)[count], int lane)
{
    static_assert(count <= 32);
    if constexpr (distance == 0) {
        return values[0];
    } else {
        const bool upper = (lane & distance) != 0;
        constexpr int kKept = held == 1 ? 1 : keptOf(held);
#pragma unroll
        for (int i = 0; i < kKept; ++i) {
            A mine = values[i];
            A theirs = values[i];
            if (i + kKept < held) {
                const A other = values[(i + kKept) % count];
                theirs = upper ? mine : other;
                mine = upper ? other : mine;
            }
            values[i] = mine + __shfl_xor_sync(0xffffffffu, theirs, distance);
        }
        return warpSums<count, kKept, distance / 2>(values, lane);
    }
}

} // namespace residua::kernels::cuda
