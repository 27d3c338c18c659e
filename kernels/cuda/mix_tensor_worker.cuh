// SPDX-License-Identifier: GPL-3.0-or-later
// The work of one thread in mix_weight_grad_tensor.cu.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_weight_grad_split.cuh"
#include "kernels/cuda/row_reduce.cuh"
#include "kernels/cuda/tensor_core.cuh"

#include <cstdint>

namespace residua::kernels::cuda {

inline constexpr int kOutputs = 3;
inline constexpr int kStepTokens = 2;
inline constexpr int kWarpColumns = 128;
inline constexpr int kLaneColumns = kWarpColumns / 32;
/// The elements between two tokens of a source in shared memory, and between two sources, with padding (differInBanks).
inline constexpr int kTokenRow = kWarpColumns + 8;
inline constexpr int kPair = kStepTokens * kTokenRow + 8;
inline constexpr int kProductSources = 8; ///< of each token in a matrix product
inline constexpr int kGradPlaces = 2;     ///< steps in the ring of the output gradients
/// The dot products of a step, [kProductSources, kStepTokens, 4 outputs].
inline constexpr int kDots = kProductSources * kStepTokens * 4;
inline constexpr int kGateParts = 3; ///< bfloat16 numbers whose sum is a float32 number
/// The elements of a part of q: as a right factor, with columns of zeros around it, so that it can begin at any of the
/// columns 0 to kOutputs.
inline constexpr int kGatePart = 16 * (8 + kOutputs);

/// Returns true if 16 bytes of each row and token, which a matrix is loaded from, are in different banks.
constexpr bool differInBanks(int rows, int tokens)
{
    unsigned banks = 0;
    int filled = 0;
    for (int i = 0; i < rows * tokens; ++i)
        banks |= 1U << (i / tokens * kPair + i % tokens * kTokenRow) / 8 % 8;
    for (; banks != 0; banks &= banks - 1)
        ++filled;
    return filled == rows * tokens;
}
static_assert(differInBanks(kProductSources, 1) && differInBanks(kOutputs, kStepTokens));

struct TensorArgs : SplitArgs {
    int rowPlaces; ///< steps in the ring of the sources' rows, 2 or 3
};

/// Block: warps along a row; grid: subsets of the sources × ranges of tokens.
template <int S>
struct TensorWorker {
    static_assert(S <= kProductSources);
    static constexpr int kRowsPlace = S * kPair;
    static constexpr int kGradsPlace = kOutputs * kPair;

    const TensorArgs& args;
    const StackArgs& stack;
    const int width;
    const int thread = int(threadIdx.x);
    const int lane = int(threadIdx.x % 32);
    const int warp = int(threadIdx.x / 32);
    const int warps = int(blockDim.x / 32);
    const std::int64_t begin = blockIdx.y * args.rangeTokens; ///< the first token
    int tokens;
    int steps;
    int firstSource;
    int sources;         ///< 1 .. S
    unsigned filled = 0; ///< one bit per source that is not absent
    std::uint64_t policy = readOncePolicy();
    std::int64_t firstElement; ///< that the lane copies of the first token
    // A warp has [rowPlaces, S, kPair] rows of the sources and [kGradPlaces, kOutputs, kPair] output gradients in
    // shared memory. The lane's offsets, of the first place:
    Bf16* shared = sharedMemory<Bf16>();
    int gradsAt;     ///< from the sources to the output gradients
    int copyLane;    ///< where it copies to
    int weightRow;   ///< its columns for weights()
    int dotRow;      ///< the left factor of dots()
    int dotGrad;     ///< the right factor of dots()
    int vectorRow;   ///< the left factor of vectors()
    float* warpDots; ///< the dot products of each warp, [warps, kDots]
    Bf16* gates;     ///< the parts of q, [kGateParts, columns, 4, kStepTokens, 2]
    // The first kDots threads finish one dot product of a step each.
    const int finishSource = int(threadIdx.x / (kStepTokens * 4));
    const int finishToken = int(threadIdx.x / 4 % kStepTokens);
    const int finishOutput = int(threadIdx.x % 4);
    bool present = false; ///< has a dot product, and its source is not absent
    int finishRow = -1;   ///< the index of [o, s], -1 without a dot product
    float logit = 0;
    float rstd = 1;

    float weightSums[S][kOutputs][kLaneColumns];
    float vectorSums[kWarpColumns / 32][4]; ///< see vectors()

    __device__ explicit TensorWorker(const TensorArgs& tensorArgs)
        : args(tensorArgs), stack(tensorArgs.stack), width(int(tensorArgs.stack.width))
    {
        tokens = int(begin + args.rangeTokens < stack.tokens ? args.rangeTokens : stack.tokens - begin);
        steps = (tokens + kStepTokens - 1) / kStepTokens;
        const int subset = int(blockIdx.x);
        firstSource = stack.sources * subset / int(gridDim.x);
        sources = stack.sources * (subset + 1) / int(gridDim.x) - firstSource;
#pragma unroll
        for (int k = 0; k < S; ++k)
            filled |= k < sources && stack.source[firstSource + k] ? 1U << k : 0;
        setPlaces();
        if (finishSource < sources && finishOutput < kOutputs) {
            present = stack.source[firstSource + finishSource];
            finishRow = finishOutput * stack.sources + firstSource + finishSource;
        }
        firstElement = kept(begin * stack.width + warp * kWarpColumns + lane % 16 * 8);
        clearSums();
    }

    __device__ void setPlaces()
    {
        gates = shared;
        warpDots = reinterpret_cast<float*>(gates + kGateParts * kGatePart);
        gradsAt = args.rowPlaces * kRowsPlace;
        const int warpAt = kGateParts * kGatePart + warps * kDots * 2 + warp * (gradsAt + kGradPlaces * kGradsPlace);
        copyLane = kept(warpAt + lane / 16 * kTokenRow + lane % 16 * 8);
        weightRow = kept(warpAt + lane * kLaneColumns);
        // Slots beyond S are like the first one, and a fourth output is like the third. Their products are not used.
        const int source = (lane % 8 < S ? lane % 8 : 0) * kPair;
        const int output = (lane % 4 < kOutputs ? lane % 4 : kOutputs - 1) * kPair;
        dotRow = kept(warpAt + source + lane / 8 % 2 * kTokenRow + lane / 16 * 8);
        dotGrad = kept(warpAt + gradsAt + output + lane / 4 % 2 * kTokenRow + lane / 8 * 8);
        vectorRow = kept(warpAt + source + lane / 16 * kTokenRow + lane / 8 % 2 * 8);
    }

    __device__ void clearSums()
    {
#pragma unroll
        for (int k = 0; k < S; ++k)
#pragma unroll
            for (int o = 0; o < kOutputs; ++o)
#pragma unroll
                for (int l = 0; l < kLaneColumns; ++l)
                    weightSums[k][o][l] = 0;
#pragma unroll
        for (int i = 0; i < kWarpColumns / 8; ++i)
            vectorSums[i / 4][i % 4] = 0;
    }

    /// Fills the gates and the rows without a source with zeros, once.
    __device__ void clearShared() const
    {
        for (int i = thread * 8; i < kGateParts * kGatePart; i += int(blockDim.x) * 8)
            *reinterpret_cast<Words*>(gates + i) = Words{};
        for (int place = 0; place < args.rowPlaces; ++place)
#pragma unroll
            for (int k = 0; k < S; ++k)
                if (!(filled >> k & 1))
                    *reinterpret_cast<Words*>(shared + copyLane + place * kRowsPlace + k * kPair) = Words{};
    }

    /// Returns the index of the lane's first element in a source or an output gradient. Each half of a warp copies the
    /// rows of one token, 16 bytes per lane and row. If a step has one token, both copy its rows.
    __device__ std::int64_t copiedElement(int step) const
    {
        const int token = step * kStepTokens + lane / 16;
        return firstElement + unsigned(token < tokens ? token : tokens - 1) * unsigned(width);
    }

    __device__ void copyRows(int step, int place) const
    {
        if (step >= steps)
            return;
        const std::int64_t at = copiedElement(step);
        Bf16* to = shared + copyLane + place * kRowsPlace;
        // Without conditions, a copy takes half as many instructions.
        if (filled == (1U << S) - 1) {
#pragma unroll
            for (int k = 0; k < S; ++k)
                copyReadOnce(to + k * kPair, static_cast<const Bf16*>(stack.source[firstSource + k]) + at, policy);
            return;
        }
#pragma unroll
        for (int k = 0; k < S; ++k)
            if (filled >> k & 1)
                copyReadOnce(to + k * kPair, static_cast<const Bf16*>(stack.source[firstSource + k]) + at, policy);
    }

    __device__ void copyGrads(int step) const
    {
        if (step >= steps)
            return;
        const std::int64_t at = copiedElement(step);
        Bf16* to = shared + copyLane + gradsAt + step % kGradPlaces * kGradsPlace;
#pragma unroll
        for (int o = 0; o < kOutputs; ++o)
            __pipeline_memcpy_async(to + o * kPair, static_cast<const Bf16*>(args.outGrad[o]) + at, 16);
    }

    /// Loads the logit of the step for a finishing thread.
    __device__ void loadLogit(int step)
    {
        const int n = step * kStepTokens + finishToken;
        if (!present || n >= tokens)
            return;
        logit = args.gateLogits[finishRow * stack.tokens + begin + n];
        if (args.rstd)
            rstd = args.rstd[(firstSource + finishSource) * stack.tokens + begin + n];
    }

    /// Computes this warp's part of the dot products of a step.
    __device__ void dots(int step, int place)
    {
        const Bf16* row = shared + dotRow + place * kRowsPlace;
        const Bf16* grad = shared + dotGrad + step % kGradPlaces * kGradsPlace;
        SumTile even{};
        SumTile odd{};
#pragma unroll
        for (int c = 0; c < kWarpColumns; c += 32) {
            const LeftTile words = loadLeft(grad + c); // of two right factors
            multiplyAdd(even, loadLeft(row + c), {words.word[0], words.word[1]});
            multiplyAdd(odd, loadLeft(row + c + 16), {words.word[2], words.word[3]});
        }
        // The lanes of each quad have four outputs of the first token, then of the second.
        const bool second = lane & 2;
        const float pair[2] = {second ? even.sum[2] + odd.sum[2] : even.sum[0] + odd.sum[0],
                               second ? even.sum[3] + odd.sum[3] : even.sum[1] + odd.sum[1]};
        store(warpDots + warp * kDots + lane * 2, pair);
    }

    /// Writes tokenGrad and the factors of x in gateVectorGrad.
    __device__ void finish(int step)
    {
        if (thread >= kDots)
            return;
        float gradient = 0;
        const int n = step * kStepTokens + finishToken;
        if (present && n < tokens) {
#pragma unroll 4
            for (int w = 0; w < warps; ++w)
                gradient += warpDots[w * kDots + thread];
            gradient *= reluGrad(logit, stack.reluGradAtZero);
        }
        if (finishRow >= 0 && n < tokens && args.tokenGrad)
            args.tokenGrad[finishRow * stack.tokens + begin + n] = gradient;
        if (finishOutput < kOutputs)
            storeGate(gradient * rstd);
        loadLogit(step + 1);
    }

    /// Stores a factor as the exact sum of three bfloat16 numbers.
    __device__ void storeGate(float factor) const
    {
        const int column = kOutputs + finishOutput;
        Bf16* to = gates + ((column * 4 + finishSource / 2) * kStepTokens + finishToken) * 2 + finishSource % 2;
#pragma unroll
        for (int part = 0; part < kGateParts; ++part) {
            const std::uint32_t bits = __float_as_uint(factor) & 0xffff0000u;
            to[part * kGatePart] = {std::uint16_t(bits >> 16)};
            factor -= __uint_as_float(bits);
        }
    }

    /// Adds the terms of the weights' gradients.
    __device__ void weights(int step, int place)
    {
        const Bf16* row = shared + weightRow + place * kRowsPlace;
        const Bf16* grad = shared + weightRow + gradsAt + step % kGradPlaces * kGradsPlace;
        const int number = tokens - step * kStepTokens < kStepTokens ? 1 : kStepTokens;
#pragma unroll 1
        for (int token = 0; token < number; ++token) {
            float g[kOutputs][kLaneColumns];
#pragma unroll
            for (int o = 0; o < kOutputs; ++o)
                loadWords(grad + o * kPair, g[o]);
#pragma unroll
            for (int k = 0; k < S; ++k) {
                float x[kLaneColumns];
                loadWords(row + k * kPair, x);
#pragma unroll
                for (int o = 0; o < kOutputs; ++o)
#pragma unroll
                    for (int l = 0; l < kLaneColumns; ++l)
                        weightSums[k][o][l] += g[o][l] * x[l];
            }
            row += kTokenRow;
            grad += kTokenRow;
        }
    }

    /// Adds the terms of gateVectorGrad. The right factor has its outputs in columns 0 to 2 for the first 16 columns of
    /// each 32, and in columns 3 to 5 for the others, so that both add to the same sums. The tensor cores round sums
    /// towards zero, so they compute those of one step only.
    __device__ void vectors(int place)
    {
        const Bf16* gate = gates + lane * kStepTokens * 2;
        RightTile first[kGateParts];
        RightTile second[kGateParts];
#pragma unroll
        for (int part = 0; part < kGateParts; ++part) {
            first[part] = rightFactor(gate + part * kGatePart + kOutputs * 16);
            second[part] = rightFactor(gate + part * kGatePart);
        }
        const Bf16* row = shared + vectorRow + place * kRowsPlace;
#pragma unroll
        for (int c = 0; c < kWarpColumns; c += 64) {
            const LeftTile left[4] = {loadLeftTransposed(row + c), loadLeftTransposed(row + c + 16),
                                      loadLeftTransposed(row + c + 32), loadLeftTransposed(row + c + 48)};
            SumTile sums[2]{};
#pragma unroll
            for (int part = 0; part < kGateParts; ++part) {
                multiplyAdd(sums[0], left[0], first[part]);
                multiplyAdd(sums[1], left[2], first[part]);
                multiplyAdd(sums[0], left[1], second[part]);
                multiplyAdd(sums[1], left[3], second[part]);
            }
#pragma unroll
            for (int i = 0; i < 8; ++i)
                vectorSums[c / 32 + i / 4][i % 4] += sums[i / 4].sum[i % 4];
        }
    }

    __device__ static RightTile rightFactor(const Bf16* words)
    {
        const auto pack = *reinterpret_cast<const Pack<std::uint32_t, 2>*>(words);
        return {pack.element[0], pack.element[1]};
    }

    /// Returns when the copies of this thread are done, but for rows that are needed later.
    __device__ void wait() const
    {
        if (args.rowPlaces > kGradPlaces)
            __pipeline_wait_prior(1);
        else
            __pipeline_wait_prior(0);
    }

    __device__ void run()
    {
        clearShared();
        for (int step = 0; step < kGradPlaces; ++step) {
            copyRows(step, step);
            copyGrads(step);
        }
        __pipeline_commit();
        if (args.rowPlaces > kGradPlaces)
            copyRows(kGradPlaces, kGradPlaces);
        __pipeline_commit();
        loadLogit(0);
        wait();
        __syncwarp();
        dots(0, 0);
        __syncthreads();
        int place = 0;
#pragma unroll 1
        for (int step = 0; step < steps; ++step) {
            finish(step);
            weights(step, place);
            wait();
            __syncthreads();
            vectors(place);
            __syncwarp();
            copyGrads(step + kGradPlaces);
            __pipeline_commit();
            copyRows(step + args.rowPlaces, place);
            __pipeline_commit();
            place = place + 1 < args.rowPlaces ? place + 1 : 0;
            if (step + 1 < steps)
                dots(step + 1, place);
            __syncthreads();
        }
    }

    /// Writes the block's partial sums. Absent sources get zeros.
    __device__ void write() const
    {
        if (args.weightPartial) {
            float* to = args.weightPartial + blockIdx.y * args.weightStride + warp * kWarpColumns + lane * kLaneColumns;
#pragma unroll
            for (int k = 0; k < S; ++k)
#pragma unroll
                for (int o = 0; o < kOutputs; ++o) {
                    float sums[kLaneColumns];
#pragma unroll
                    for (int l = 0; l < kLaneColumns; ++l)
                        sums[l] = filled >> k & 1 ? weightSums[k][o][l] : 0;
                    if (k < sources)
                        store(to + rowAt(stack, o, firstSource + k, stack.width), sums);
                }
        }
        if (args.vectorPartial)
            writeVectors(args.vectorPartial +
                         (std::int64_t(blockIdx.y) * gridDim.x + blockIdx.x) * kOutputs * stack.width +
                         warp * kWarpColumns + lane / 4);
    }

    __device__ void writeVectors(float* to) const
    {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int column = lane % 4 * 2 + i; // of the right factor
            float* at = to + column % kOutputs * stack.width + column / kOutputs * 16;
#pragma unroll
            for (int c = 0; c < kWarpColumns && column < 2 * kOutputs; c += 32) {
                at[c] = vectorSums[c / 32][i];
                at[c + 8] = vectorSums[c / 32][i + 2];
            }
        }
    }
};

} // namespace residua::kernels::cuda
