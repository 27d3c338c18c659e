// SPDX-License-Identifier: GPL-3.0-or-later
// Matrix products of a warp on the tensor cores. Products of bfloat16 numbers are exact in float32; only the sums are
// rounded. All lanes of the warp must call these functions together. g = lane / 4 and t = lane % 4.
#pragma once

#include "kernels/cuda/pack.cuh"

namespace residua::kernels::cuda {

/// The left factor, [16, 16]. Two numbers to a word, the lower column in the lower half: rows g, g + 8, g, g + 8 and
/// columns 2t, 2t, 2t + 8, 2t + 8, with the next column each.
struct LeftTile {
    std::uint32_t word[4];
};

/// The right factor, [16, 8]: column g and rows 2t, 2t + 8, with the next row each.
struct RightTile {
    std::uint32_t word[2];
};

/// Sums, [16, 8]: (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
struct SumTile {
    float sum[4];
};

/// Adds left·right to the sums.
__device__ inline void multiplyAdd(SumTile& sums, const LeftTile& left, const RightTile& right)
{
#ifdef __CUDACC__
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(sums.sum[0]), "+f"(sums.sum[1]), "+f"(sums.sum[2]), "+f"(sums.sum[3])
        : "r"(left.word[0]), "r"(left.word[1]), "r"(left.word[2]), "r"(left.word[3]), "r"(right.word[0]),
          "r"(right.word[1]));
#else // on the host, see tests/kernels/emulation
    emulation::multiplyAdd(sums.sum, left.word, right.word);
#endif
}

/// Loads a left factor from shared memory. `row` is the address of eight adjacent numbers, 16-byte aligned: of row
/// lane % 16, columns 0 to 7 for the first 16 lanes and columns 8 to 15 for the others.
__device__ inline LeftTile loadLeft(const Bf16* row)
{
    LeftTile tile;
#ifdef __CUDACC__
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tile.word[0]), "=r"(tile.word[1]), "=r"(tile.word[2]), "=r"(tile.word[3])
                 : "r"(unsigned(__cvta_generic_to_shared(row)))
                 : "memory");
#else // on the host, see tests/kernels/emulation
    emulation::loadMatrices(tile.word, row);
#endif
    return tile;
}

/// Loads a left factor whose columns are rows in shared memory. `row` is the address of eight adjacent numbers, 16-byte
/// aligned: of column lane % 8 for the first 16 lanes and 8 + lane % 8 for the others, rows 0 to 7 for lanes 0 to 7 and
/// 16 to 23, and rows 8 to 15 for the others.
__device__ inline LeftTile loadLeftTransposed(const Bf16* row)
{
    LeftTile tile;
#ifdef __CUDACC__
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tile.word[0]), "=r"(tile.word[1]), "=r"(tile.word[2]), "=r"(tile.word[3])
                 : "r"(unsigned(__cvta_generic_to_shared(row)))
                 : "memory");
#else // on the host, see tests/kernels/emulation
    emulation::loadTransposedMatrices(tile.word, row);
#endif
    return tile;
}

/// Two float32 numbers, each as the sum of two bfloat16 numbers, two to a word. The sum has at least 16 bits.
struct SplitPair {
    std::uint32_t large;
    std::uint32_t small;
};

__device__ inline SplitPair split(float first, float second)
{
    SplitPair pair{0, 0};
    const float values[2] = {first, second};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        Bf16 large;
        Bf16 small;
        narrow(large, values[i]);
        narrow(small, values[i] - widen(large));
        pair.large |= std::uint32_t(large.bits) << 16 * i;
        pair.small |= std::uint32_t(small.bits) << 16 * i;
    }
    return pair;
}

} // namespace residua::kernels::cuda
