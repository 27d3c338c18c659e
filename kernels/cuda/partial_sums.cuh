// SPDX-License-Identifier: GPL-3.0-or-later
// The second stage of a sum over tokens: adds the blocks' partial sums in a fixed order.
#pragma once

#include "kernels/cuda/launch.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace residua::kernels::cuda {

struct PartialSums {
    const void* partial; ///< [blocks, stride]
    void* to;            ///< [elements]
    std::int64_t elements;
    std::int64_t stride;
    std::int64_t blocks;
};

inline constexpr int kSumColumns = 32;
inline constexpr int kSumSlices = 16;

/// Each thread along y adds every kSumSlices-th block; the first thread then adds these sums.
template <class A>
__global__ void addPartialSums(const __grid_constant__ PartialSums sums)
{
    A* slices = sharedMemory<A>();
    const std::int64_t element = std::int64_t(blockIdx.x) * kSumColumns + threadIdx.x;
    A sum = 0;
    if (element < sums.elements) {
        const A* from = static_cast<const A*>(sums.partial) + element;
#pragma unroll 8
        for (std::int64_t block = threadIdx.y; block < sums.blocks; block += kSumSlices)
            sum += from[block * sums.stride];
    }
    slices[threadIdx.y * kSumColumns + threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || element >= sums.elements)
        return;
    for (int slice = 1; slice < kSumSlices; ++slice)
        sum += slices[slice * kSumColumns + threadIdx.x];
    static_cast<A*>(sums.to)[element] = sum;
}

template <class A>
Status addPartials(const PartialSums& sums, void* stream)
{
    return launch(addPartialSums<A>, dim3(unsigned((sums.elements + kSumColumns - 1) / kSumColumns)),
                  dim3(kSumColumns, kSumSlices), kSumColumns * kSumSlices * sizeof(A), stream, sums);
}

/// Fills the memory with zero bytes; does nothing if `to` is null.
inline Status clear(void* to, std::size_t bytes, void* stream)
{
    if (!to)
        return Status::ok;
    const cudaError_t error = cudaMemsetAsync(to, 0, bytes, static_cast<cudaStream_t>(stream));
    return error == cudaSuccess ? Status::ok : failed(error);
}

} // namespace residua::kernels::cuda
