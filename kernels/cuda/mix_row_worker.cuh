// SPDX-License-Identifier: GPL-3.0-or-later
// The work of one thread in mix_weight_grad_rows.cu.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_weight_grad_split.cuh"
#include "kernels/cuda/row_reduce.cuh"

#include <cstdint>

namespace residua::kernels::cuda {

enum class Gate { none, token, relu };

/// Sources per group of threads, limited by the registers for their sums.
constexpr int slotsOf(int lanes, int outputs, bool feature, Gate gate)
{
    return !feature ? 4 : outputs == 4 && gate == Gate::relu ? 8 / lanes : 16 / lanes;
}

/// Rounds up to whole packs of float32.
constexpr int paddedValues(int values)
{
    return (values + 3) / 4 * 4;
}

struct RowArgs : SplitArgs {
    int tileTokens; ///< times the padded dot products of a token at most 32
    int ahead;      ///< tiles that are copied before they are used, 1 .. 3
    // Byte offsets in shared memory. The rows of the sources start at 0.
    int gradsAt;
    int partsAt;
    int gatesAt;
    int logitsAt;
    int rstdAt;
};

/// A place in a ring of tiles.
struct RingPlace {
    int at;
    int size;

    /// Returns the place `distance` tiles later, 0 .. size.
    __device__ int after(int distance) const { return at + distance < size ? at + distance : at + distance - size; }
    __device__ void next() { at = after(1); }
};

/// Block: threads along a row × groups; grid: subsets of the sources × ranges of tokens.
template <class T, int O, bool feature, Gate gate>
struct RowWorker {
    static constexpr int L = 16 / sizeof(T);
    static constexpr int S = slotsOf(L, O, feature, gate);
    static constexpr int V = S * O; ///< dot products of a group and token
    static constexpr int kPadded = paddedValues(V);
    static constexpr bool kDots = gate != Gate::none; ///< needs dot products per token
    static constexpr int kLag = gate == Gate::relu ? 2 : gate == Gate::token ? 1 : 0;
    static constexpr int kRowLag = gate == Gate::relu ? 2 : 0;

    const RowArgs& args;
    const StackArgs& stack;
    unsigned char* shared;
    const int width;
    const int thread = int(threadIdx.x); ///< in the group
    const int group = int(threadIdx.y);
    const int column = thread * L;
    const bool active = column < width;
    const std::int64_t begin = blockIdx.y * args.rangeTokens; ///< the first token
    int tokens;
    int steps;           ///< tiles
    int firstSource;     ///< of the group
    int sources;         ///< of the group, 0 .. S
    unsigned filled = 0; ///< one bit per slot with a source
    std::uint64_t policy = readOncePolicy();
    const int owned = ownedValue<V>(thread % 32);
    // The threads of a group's first warp finish one dot product of a tile each.
    const int finishToken = thread / kPadded; ///< in the tile
    const int finishValue = thread % kPadded;
    bool present;           ///< has a dot product, and its source is not absent
    std::int64_t finishRow; ///< the index of [o, s, begin] in gateLogits and tokenGrad, -1 without a dot product
    float inside;           ///< the scalar weight inside of the relu; per feature, this form has none
    float scalarSum = 0;

    float weightSums[feature ? S : 1][O][L];
    float vectorSums[O][L];
    float threadSums[V]; ///< scalar weights without a gate

    __device__ explicit RowWorker(const RowArgs& rowArgs)
        : args(rowArgs), stack(rowArgs.stack), shared(sharedMemory<unsigned char>()), width(int(rowArgs.stack.width))
    {
        tokens = int(begin + args.rangeTokens < stack.tokens ? args.rangeTokens : stack.tokens - begin);
        steps = (tokens + args.tileTokens - 1) / args.tileTokens;
        const int subset = int(blockIdx.x);
        const int subsetBegin = stack.sources * subset / int(gridDim.x);
        const int subsetSources = stack.sources * (subset + 1) / int(gridDim.x) - subsetBegin;
        firstSource = subsetBegin + subsetSources * group / int(blockDim.y);
        sources = subsetBegin + subsetSources * (group + 1) / int(blockDim.y) - firstSource;
#pragma unroll
        for (int k = 0; k < S; ++k)
            filled |= k < sources && stack.source[firstSource + k] ? 1U << k : 0;
        const int slot = finishValue / O;
        const int output = finishValue % O;
        const bool isOwn = slot < sources && finishValue < V;
        present = isOwn && stack.source[firstSource + slot];
        finishRow = isOwn ? rowAt(stack, output, firstSource + slot, stack.tokens) + begin : -1;
        inside = !feature && present && stack.gateKind == GateKind::reluInside
                     ? scalarWeight<float>(stack, output, firstSource + slot)
                     : 0.0F;
        clearSums();
    }

    __device__ void clearSums()
    {
#pragma unroll
        for (int o = 0; o < O; ++o)
#pragma unroll
            for (int l = 0; l < L; ++l) {
                vectorSums[o][l] = 0;
#pragma unroll
                for (int k = 0; k < (feature ? S : 1); ++k)
                    weightSums[k][o][l] = 0;
            }
#pragma unroll
        for (int v = 0; v < V; ++v)
            threadSums[v] = 0;
    }

    /// Returns the number of tokens in a tile.
    __device__ int count(int step) const
    {
        const int rest = tokens - step * args.tileTokens;
        return rest < args.tileTokens ? rest : args.tileTokens;
    }

    /// Returns this thread's pack of the first token in the first slot. The other slots are `width` apart.
    __device__ T* rowPack(int place) const
    {
        const int row = (place * args.tileTokens * int(blockDim.y) + group) * S;
        return reinterpret_cast<T*>(shared) + row * width + column;
    }

    /// Returns the elements between a slot's rows of two tokens.
    __device__ int rowStride() const
    {
        return int(blockDim.y) * S * width;
    }

    /// Returns this thread's pack of the first token and output. The next outputs and tokens are `width` apart.
    __device__ T* gradPack(int place) const
    {
        return reinterpret_cast<T*>(shared + args.gradsAt) + place * args.tileTokens * O * width + column;
    }

    /// Returns the group's values of one token in an array [places, tileTokens, groups, kPadded].
    __device__ float* values(int offset, int place, int token) const
    {
        return reinterpret_cast<float*>(shared + offset) +
               ((place * args.tileTokens + token) * int(blockDim.y) + group) * kPadded;
    }

    /// Returns the sums of one warp in an array [2, tileTokens, groups, warps, kPadded].
    __device__ float* parts(int place, int token, int warp) const
    {
        return reinterpret_cast<float*>(shared + args.partsAt) +
               (((place * args.tileTokens + token) * int(blockDim.y) + group) * int(blockDim.x / 32) + warp) * kPadded;
    }

    /// Fills the slots without a source with zeros, once.
    __device__ void clearAbsent(int places) const
    {
        for (int row = 0; row < places * args.tileTokens && active; ++row)
#pragma unroll
            for (int k = 0; k < S; ++k)
                if (!(filled >> k & 1))
                    *reinterpret_cast<Pack<T, L>*>(rowPack(0) + row * rowStride() + k * width) = Pack<T, L>{};
    }

    /// Starts the copies of the next tile. Must be called once for each tile in order.
    __device__ void copy(int step, int rowPlace, int gradPlace, int logitPlace)
    {
        const int first = step * args.tileTokens;
        const int number = count(step);
        std::int64_t at = (begin + first) * width + column;
        T* to = rowPack(rowPlace);
#pragma unroll 1
        for (int token = 0; token < number && active; ++token) {
#pragma unroll
            for (int k = 0; k < S; ++k)
                if (filled >> k & 1)
                    copyReadOnce(to + k * width, static_cast<const T*>(stack.source[firstSource + k]) + at, policy);
            to += rowStride();
            at += width;
        }
#pragma unroll 1
        for (int row = group; row < number * O && active; row += int(blockDim.y))
            __pipeline_memcpy_async(
                gradPack(gradPlace) + row * width,
                static_cast<const T*>(args.outGrad[row % O]) + (begin + first + row / O) * stack.width + column, 16);
        if constexpr (gate == Gate::relu)
            if (present && finishToken < number)
                copyLogit(first + finishToken, logitPlace);
    }

    __device__ void copyLogit(int n, int place) const
    {
        __pipeline_memcpy_async(values(args.logitsAt, place, finishToken) + finishValue,
                                args.gateLogits + finishRow + n, 4);
        if (args.rstd)
            __pipeline_memcpy_async(values(args.rstdAt, place, finishToken) + finishValue,
                                    args.rstd + (firstSource + finishValue / O) * stack.tokens + begin + n, 4);
    }

    /// Computes the dot products of a tile per warp, and adds the terms of a per-feature weight's gradient.
    __device__ void products(int step, int rowPlace, int gradPlace)
    {
        if (sources == 0)
            return;
        const int number = count(step);
        const int partStride = int(blockDim.y * blockDim.x / 32) * kPadded;
        const T* rows = rowPack(rowPlace);
        const T* grads = gradPack(gradPlace);
        float* part = parts(step % 2, 0, thread / 32) + owned;
#pragma unroll 1
        for (int token = 0; token < number; ++token) {
            float dots[V] = {};
            if (active)
                addProducts(rows, grads, dots);
            if constexpr (kDots) {
                foldOverWarp<V>(dots);
                if (owned >= 0)
                    *part = dots[0];
                part += partStride;
            } else if constexpr (!feature) {
#pragma unroll
                for (int v = 0; v < V; ++v)
                    threadSums[v] += dots[v];
            }
            rows += rowStride();
            grads += O * width;
        }
    }

    __device__ void addProducts(const T* rows, const T* grads, float (&dots)[V])
    {
        float x[S][L];
#pragma unroll
        for (int k = 0; k < S; ++k)
            loadWords(rows + k * width, x[k]);
#pragma unroll
        for (int o = 0; o < O; ++o) {
            float g[L];
            loadWords(grads + o * width, g);
#pragma unroll
            for (int l = 0; l < L; ++l)
#pragma unroll
                for (int k = 0; k < S; ++k) {
                    if (kDots || !feature)
                        dots[k * O + o] += g[l] * x[k][l];
                    if constexpr (feature)
                        weightSums[k][o][l] += g[l] * x[k][l];
                }
        }
    }

    /// Returns the sum over the warps of the group, for a finishing thread.
    __device__ float addWarps(int place) const
    {
        const float* part = parts(place, finishToken, 0) + finishValue;
        float sum = 0;
#pragma unroll 4
        for (int warp = 0; warp < int(blockDim.x / 32); ++warp)
            sum += part[warp * kPadded];
        return sum;
    }

    /// The group's first warp, one thread per dot product: writes tokenGrad and the factors of x in gateVectorGrad.
    __device__ void finish(int step, int logitPlace)
    {
        if (sources == 0 || thread >= 32)
            return;
        const bool inTile = finishToken < count(step);
        float gradient = 0;
        float term = 0;
        float factor = 0;
        if (inTile && present) {
            term = gradient = addWarps(step % 2);
            if constexpr (gate == Gate::relu) {
                const float z = values(args.logitsAt, logitPlace, finishToken)[finishValue];
                gradient *= reluGrad(inside + z, stack.reluGradAtZero);
                factor = args.rstd ? gradient * values(args.rstdAt, logitPlace, finishToken)[finishValue] : gradient;
                term = stack.gateKind == GateKind::reluInside ? gradient : term;
            }
        }
        if (inTile && finishRow >= 0 && args.tokenGrad)
            args.tokenGrad[finishRow + step * args.tileTokens + finishToken] = gradient;
        if (gate == Gate::relu && inTile)
            values(args.gatesAt, step % 2, finishToken)[finishValue] = factor;
        if constexpr (!feature)
            for (int token = 0; token < args.tileTokens; ++token)
                scalarSum += __shfl_sync(0xffffffffu, term, token * kPadded + finishValue);
    }

    /// Adds the terms of gateVectorGrad.
    __device__ void vectors(int step, int rowPlace)
    {
        if (sources == 0 || !active)
            return;
        const int number = count(step);
        const T* rows = rowPack(rowPlace);
        const float* factors = values(args.gatesAt, step % 2, 0);
#pragma unroll 1
        for (int token = 0; token < number; ++token) {
            float q[kPadded];
#pragma unroll
            for (int v = 0; v < kPadded; v += 4) {
                float part[4];
                load(factors + v, part);
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    q[v + i] = part[i];
            }
#pragma unroll
            for (int k = 0; k < S; ++k) {
                float x[L];
                loadWords(rows + k * width, x);
#pragma unroll
                for (int o = 0; o < O; ++o)
#pragma unroll
                    for (int l = 0; l < L; ++l)
                        vectorSums[o][l] += q[k * O + o] * x[l];
            }
            rows += rowStride();
            factors += int(blockDim.y) * kPadded;
        }
    }

    /// Returns when the next tile has arrived and all threads are done with this step.
    __device__ void waitForNext() const
    {
        if (args.ahead == 1)
            __pipeline_wait_prior(0);
        else if (args.ahead == 2)
            __pipeline_wait_prior(1);
        else
            __pipeline_wait_prior(2);
        __syncthreads();
    }

    __device__ void run()
    {
        const int ahead = args.ahead;
        // The places of the step's tile.
        RingPlace row{0, ahead + 1 + kRowLag};
        RingPlace grad{0, ahead + 1};
        RingPlace logit{0, ahead + 2};
        clearAbsent(row.size);
        for (int step = 0; step < ahead; ++step) {
            if (step < steps)
                copy(step, step, step, step);
            __pipeline_commit();
        }
        waitForNext();
#pragma unroll 1
        for (int step = 0; step < steps + kLag; ++step) {
            if (step + ahead < steps)
                copy(step + ahead, row.after(ahead), grad.after(ahead), logit.after(ahead));
            __pipeline_commit();
            if (step < steps)
                products(step, row.at, grad.at);
            if (kDots && step >= 1 && step <= steps)
                finish(step - 1, logit.after(logit.size - 1));
            if (kLag == 2 && step >= 2)
                vectors(step - 2, row.after(row.size - 2));
            row.next();
            grad.next();
            logit.next();
            waitForNext();
        }
    }

    /// Writes the block's partial sums. Absent sources get zeros.
    __device__ void write()
    {
        float* weights = args.weightPartial ? args.weightPartial + blockIdx.y * args.weightStride : nullptr;
        if constexpr (feature) {
#pragma unroll
            for (int k = 0; k < S; ++k)
#pragma unroll
                for (int o = 0; o < O; ++o) {
                    float sums[L];
#pragma unroll
                    for (int l = 0; l < L; ++l)
                        sums[l] = filled >> k & 1 ? weightSums[k][o][l] : 0;
                    if (k < sources && active && weights)
                        store(weights + rowAt(stack, o, firstSource + k, stack.width) + column, sums);
                }
        } else {
            if constexpr (!kDots) {
                foldOverWarp<V>(threadSums);
                if (owned >= 0)
                    parts(0, 0, thread / 32)[owned] = threadSums[0];
                __syncthreads();
                scalarSum = present && thread < V ? addWarps(0) : 0;
            }
            if (weights && thread < V && finishRow >= 0)
                weights[rowAt(stack, finishValue % O, firstSource + finishValue / O, 1)] = scalarSum;
        }
        if constexpr (gate == Gate::relu)
            if (args.vectorPartial)
                writeVectors();
    }

    /// Adds the groups' sums in order, in the memory of the rows.
    __device__ void writeVectors()
    {
        float* sums = reinterpret_cast<float*>(shared) + column;
        float* to = args.vectorPartial + (std::int64_t(blockIdx.y) * gridDim.x + blockIdx.x) * O * stack.width + column;
        for (int turn = 0; turn < int(blockDim.y); ++turn) {
            if (group == turn && active)
#pragma unroll
                for (int o = 0; o < O; ++o) {
                    if (turn > 0) {
                        float before[L];
                        load(static_cast<const float*>(sums + o * width), before);
#pragma unroll
                        for (int l = 0; l < L; ++l)
                            vectorSums[o][l] += before[l];
                    }
                    store(turn + 1 == int(blockDim.y) ? to + o * stack.width : sums + o * width, vectorSums[o]);
                }
            __syncthreads();
        }
    }
};

} // namespace residua::kernels::cuda
