// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/emulation/planted_kernels.h"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/pack.cuh"
#include "kernels/cuda/tensor_core.cuh"

#include <cuda_pipeline.h>

namespace residua::tests {
namespace {

using kernels::cuda::sharedMemory;

__device__ int self()
{
    return int(threadIdx.x);
}

__device__ float& result(const PlantedArgs& args)
{
    return args.out[blockIdx.x * kPlantedThreads + threadIdx.x];
}

__global__ void readsPastTheEnd(const __grid_constant__ PlantedArgs args)
{
    result(args) = args.in[kPlantedShared - 1 + int(args.planted)];
}

__global__ void writesPastTheEnd(const __grid_constant__ PlantedArgs args)
{
    (&result(args))[args.planted ? kPlantedBlocks * kPlantedThreads : 0] = 1;
}

__global__ void readsTheHost(const __grid_constant__ PlantedArgs args)
{
    result(args) = *(args.planted ? args.host : args.in);
}

__global__ void readsPastShared(const __grid_constant__ PlantedArgs args)
{
    float* shared = sharedMemory<float>();
    if (self() == 0)
        shared[kPlantedShared - 1] = 1;
    __syncthreads();
    result(args) = shared[kPlantedShared - 1 + int(args.planted)];
}

__global__ void forgetsAThread(const __grid_constant__ PlantedArgs args)
{
    float* shared = sharedMemory<float>();
    if (!args.planted || self() != 5)
        shared[self()] = 1;
    result(args) = shared[self()];
}

__global__ void usesAnotherBlocksValues(const __grid_constant__ PlantedArgs args)
{
    __shared__ float values[kPlantedThreads];
    if (!args.planted || blockIdx.x == 0)
        values[self()] = 1;
    result(args) = values[self()];
}

__global__ void readsWithoutBarrier(const __grid_constant__ PlantedArgs args)
{
    float* shared = sharedMemory<float>();
    shared[self()] = 0;
    __syncthreads();
    shared[self()] = 1;
    if (!args.planted)
        __syncthreads();
    result(args) = shared[(self() + 32) % kPlantedThreads];
}

__global__ void writesWithoutBarrier(const __grid_constant__ PlantedArgs args)
{
    __shared__ float values[kPlantedThreads];
    values[self()] = 0;
    __syncthreads();
    result(args) = values[(self() + 1) % kPlantedThreads];
    if (!args.planted)
        __syncthreads();
    values[self()] = 1;
}

__global__ void manyWriteOne(const __grid_constant__ PlantedArgs args)
{
    float* shared = sharedMemory<float>();
    shared[args.planted ? self() / 2 : self()] = 1;
}

__global__ void readsWithoutWarpBarrier(const __grid_constant__ PlantedArgs args)
{
    float* shared = sharedMemory<float>();
    shared[self()] = 0;
    __syncthreads();
    shared[self()] = 1;
    if (!args.planted)
        __syncwarp();
    result(args) = shared[self() ^ 1];
}

__global__ void trustsWarpBarrierAcrossWarps(const __grid_constant__ PlantedArgs args)
{
    float* shared = sharedMemory<float>();
    shared[self()] = 0;
    __syncthreads();
    shared[self()] = 1;
    if (args.planted)
        __syncwarp();
    else
        __syncthreads();
    result(args) = shared[(self() + 32) % kPlantedThreads];
}

__global__ void blocksWriteOne(const __grid_constant__ PlantedArgs args)
{
    args.out[args.planted ? self() : int(blockIdx.x) * kPlantedThreads + self()] = 1;
}

__global__ void blocksReadWhatOneWrites(const __grid_constant__ PlantedArgs args)
{
    if (blockIdx.x == 0)
        args.out[self()] = 1;
    else if (args.planted)
        args.out[kPlantedThreads + self()] = args.out[self()];
}

__global__ void loadsMisaligned(const __grid_constant__ PlantedArgs args)
{
    float values[4];
    kernels::cuda::load(args.in + int(args.planted), values);
    result(args) = values[0] + values[3];
}

__global__ void indexesPastAnArray(const __grid_constant__ PlantedArgs args)
{
    float values[4] = {1, 2, 3, float(self())};
    result(args) = values[self() % 4 + (args.planted ? 4 : 0)];
}

__global__ void losesALane(const __grid_constant__ PlantedArgs args)
{
    if (args.planted && self() == 31)
        return;
    result(args) = kernels::cuda::warpSum(1.0F);
}

__global__ void barrierInABranch(const __grid_constant__ PlantedArgs args)
{
    if (args.planted && self() == 0)
        __syncthreads();
    result(args) = kernels::cuda::warpSum(1.0F);
}

__global__ void shufflesFromOutside(const __grid_constant__ PlantedArgs args)
{
    if (self() % 32 < 16)
        result(args) = __shfl_sync(0xffffu, 1.0F, args.planted ? 20 : 3);
}

__global__ void forgetsToWait(const __grid_constant__ PlantedArgs args)
{
    float* shared = sharedMemory<float>() + 4 * self();
    __pipeline_memcpy_async(shared, args.in + 4 * self(), 4 * sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(args.planted ? 1 : 0);
    result(args) = shared[3];
}

__global__ void copiesOverWhatOthersRead(const __grid_constant__ PlantedArgs args)
{
    float* shared = sharedMemory<float>();
    shared[4 * self()] = 1;
    __syncthreads();
    const float others = shared[4 * ((self() + 1) % kPlantedThreads)];
    if (!args.planted)
        __syncthreads();
    __pipeline_memcpy_async(shared + 4 * self(), args.in + 4 * self(), 4 * sizeof(float));
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    result(args) = others + shared[4 * self() + 3];
}

__global__ void readsWhatIsUnderWay(const __grid_constant__ PlantedArgs args)
{
    float* shared = sharedMemory<float>() + 4 * self();
    shared[3] = 1;
    __pipeline_memcpy_async(shared, args.in + 4 * self(), 4 * sizeof(float));
    __pipeline_commit();
    const float early = args.planted ? shared[3] : 0;
    __pipeline_wait_prior(0);
    result(args) = early + shared[3];
}

} // namespace

std::vector<PlantedError> plantedErrors()
{
    return {
        {"reads past the end", readsPastTheEnd, "read out of bounds"},
        {"writes past the end", writesPastTheEnd, "write out of bounds"},
        {"reads the host", readsTheHost, "read out of bounds"},
        {"reads past shared memory", readsPastShared, "read out of bounds"},
        {"forgets a thread", forgetsAThread, "read of uninitialised shared memory at byte 20, thread (5, 0, 0)"},
        {"another block's values", usesAnotherBlocksValues, "read of uninitialised shared memory"},
        {"read without barrier", readsWithoutBarrier, "race in shared memory"},
        {"write without barrier", writesWithoutBarrier, "race in shared memory"},
        {"many write one", manyWriteOne, "race in shared memory at byte 0, thread (1, 0, 0)"},
        {"read without warp barrier", readsWithoutWarpBarrier, "race in shared memory"},
        {"warp barrier across warps", trustsWarpBarrierAcrossWarps, "race in shared memory"},
        {"blocks write one", blocksWriteOne, "race in global memory"},
        {"blocks read what one writes", blocksReadWhatOneWrites, "race in global memory"},
        {"misaligned load", loadsMisaligned, "misaligned address"},
        {"index past an array", indexesPastAnArray, "index out of bounds"},
        {"loses a lane", losesALane, "lanes of a warp wait for others that never come"},
        {"barrier in a branch", barrierInABranch, "some threads wait at __syncthreads"},
        {"shuffle from outside", shufflesFromOutside, "a shuffle reads a lane that its mask lacks"},
        {"copies over what others read", copiesOverWhatOthersRead, "race in shared memory"},
        {"reads what is under way", readsWhatIsUnderWay, "read of uninitialised shared memory"},
        {"forgets to wait", forgetsToWait, "read of uninitialised shared memory"},
    };
}

__global__ void warpOperations(const __grid_constant__ PlantedArgs args)
{
    constexpr unsigned kAll = 0xffffffffu;
    const int lane = self() % 32;
    float sum = __shfl_xor_sync(kAll, float(lane), 5);
    sum += 100 * __shfl_up_sync(kAll, float(lane), 3U);
    sum += 10'000 * __shfl_down_sync(kAll, float(lane), 3U, 16);
    sum += float(__shfl_sync(kAll, double(lane), lane / 2));
    sum += __ballot_sync(kAll, lane % 3 == 0) >> lane & 1 ? 1'000'000 : 0;
    sum += __any_sync(kAll, lane == 7) && !__all_sync(kAll, lane == 7) ? 2'000'000 : 0;
    args.out[self()] = sum;
}

float warpOperationsOf(int thread)
{
    const int lane = thread % 32;
    const int up = lane < 3 ? lane : lane - 3;
    const int down = lane % 16 >= 13 ? lane : lane + 3;
    return float((lane ^ 5) + 100 * up + 10'000 * down + lane / 2 + (lane % 3 == 0 ? 1'000'000 : 0) + 2'000'000);
}

namespace {

int leftAt(int row, int column)
{
    return (row * 3 + column * 5) % 17 - 8;
}

int rightAt(int row, int column)
{
    return (row * 7 + column * 2) % 13 - 6;
}

std::uint32_t pairOf(int lower, int upper)
{
    kernels::cuda::Bf16 halves[2];
    kernels::cuda::narrow(halves[0], float(lower));
    kernels::cuda::narrow(halves[1], float(upper));
    return halves[0].bits | std::uint32_t(halves[1].bits) << 16;
}

/// Different factors for the four sums, so that none can take the place of another.
float combined(const float (&sums)[4])
{
    return sums[0] + 3 * sums[1] + 7 * sums[2] + 11 * sums[3];
}

} // namespace

__global__ void matrixProduct(const __grid_constant__ PlantedArgs args)
{
    using namespace kernels::cuda;
    Bf16* stored = sharedMemory<Bf16>();
    for (int i = self(); i < 16 * 16; i += kPlantedThreads)
        narrow(stored[i], float(args.planted ? leftAt(i % 16, i / 16) : leftAt(i / 16, i % 16)));
    __syncthreads();
    const int lane = self() % 32;
    const LeftTile left = args.planted ? loadLeftTransposed(stored + (lane % 8 + lane / 16 * 8) * 16 + lane / 8 % 2 * 8)
                                       : loadLeft(stored + lane % 16 * 16 + lane / 16 * 8);
    const int row = lane % 4 * 2;
    const int column = lane / 4;
    SumTile sums{{0, 1, 0, 0}};
    multiplyAdd(sums, left,
                {pairOf(rightAt(row, column), rightAt(row + 1, column)),
                 pairOf(rightAt(row + 8, column), rightAt(row + 9, column))});
    result(args) = combined(sums.sum);
}

float matrixProductOf(int thread)
{
    const int lane = thread % 32;
    float sums[4] = {0, 1, 0, 0};
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 16; ++k)
            sums[i] += float(leftAt(lane / 4 + i / 2 * 8, k) * rightAt(k, lane % 4 * 2 + i % 2));
    return combined(sums);
}

} // namespace residua::tests
