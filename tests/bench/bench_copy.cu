// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/bench_copy.h"

namespace residua::tests {
namespace {

constexpr int kThreads = 256;
constexpr int kPacksPerThread = 4;
constexpr int kPacksPerBlock = kThreads * kPacksPerThread;

/// Each thread issues all of its loads before its first store.
__global__ void __launch_bounds__(kThreads) copyPacks(uint4* to, const uint4* from, std::size_t packs)
{
    const std::size_t first = std::size_t(blockIdx.x) * kPacksPerBlock + threadIdx.x;
    uint4 pack[kPacksPerThread];
#pragma unroll
    for (int i = 0; i < kPacksPerThread; ++i)
        if (first + i * kThreads < packs)
            pack[i] = from[first + i * kThreads];
#pragma unroll
    for (int i = 0; i < kPacksPerThread; ++i)
        if (first + i * kThreads < packs)
            to[first + i * kThreads] = pack[i];
}

} // namespace

void copyByKernel(void* to, const void* from, std::size_t bytes)
{
    const std::size_t packs = bytes / sizeof(uint4);
    if (packs == 0)
        return; // a launch of no blocks is an error
    const unsigned blocks = unsigned((packs + kPacksPerBlock - 1) / kPacksPerBlock);
    copyPacks<<<blocks, kThreads>>>(static_cast<uint4*>(to), static_cast<const uint4*>(from), packs);
}

} // namespace residua::tests
