// SPDX-License-Identifier: GPL-3.0-or-later
// mixWeightGrad for rows of whole 16-byte packs. Each block has a range of tokens and a subset of the sources, and
// keeps the sums over its tokens in registers. A group of threads has the rows of a few sources, one pack of columns
// per thread. The rows of the sources and the output gradients arrive in rings in shared memory by asynchronous copies.
//
// Blocks with the same tokens are neighbours in the grid and run at the same time, so they share the output gradients
// in the second-level cache. A second kernel adds the partial sums of the ranges in order, without atomics, so the bits
// are always the same. The split into blocks depends on the shape only; the depth of the rings depends on the device
// too, but does not change a result.
//
// The loop over tokens is a pipeline with one barrier per step. Step i computes the dot products of tile i of tokens
// per warp, adds those of tile i - 1 over the warps of a group to get the gate gradients q, and adds the terms q·x of
// tile i - 2 to gateVectorGrad.
#include "kernels/cuda/mix_weight_grad.cuh"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_args.cuh"
#include "kernels/cuda/partial_sums.cuh"
#include "kernels/cuda/row_reduce.cuh"

#include <algorithm>

namespace residua::kernels::cuda {
namespace {

/// The multiprocessors of an H100 or H200, for which the number of blocks is chosen. Other devices give the same bits.
constexpr int kMultiprocessors = 132;
constexpr int kMostThreads = 512; ///< of a block, and of the blocks that a multiprocessor should hold
constexpr int kMostResident = 4;  ///< blocks that a multiprocessor should hold
/// Fewer tokens per range would cost more for the partial sums than more blocks save.
constexpr std::int64_t kFewTokens = 8;

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

struct RowArgs {
    StackArgs stack;
    const void* outGrad[kMaxOutputs];
    const float* gateLogits;
    const float* rstd;    ///< null unless the gate's input is normalised
    float* tokenGrad;     ///< null: not wanted
    float* weightPartial; ///< [ranges, weightStride], null: not wanted
    float* vectorPartial; ///< [ranges, subsets, O, d], null: not wanted
    std::int64_t weightStride;
    std::int64_t rangeTokens;
    int tileTokens;
    int ahead; ///< tiles that are copied before they are used, 1 .. 3
    // Byte offsets in shared memory. The rows start at 0.
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
    __device__ void next() { at = at + 1 == size ? 0 : at + 1; }
};

template <class T, int O, bool feature, Gate gate>
struct RowWorker {
    static constexpr int L = 16 / sizeof(T);
    static constexpr int S = slotsOf(L, O, feature, gate);
    static constexpr int V = S * O; ///< dot products of a group and token
    static constexpr int kPadded = paddedValues(V);
    static constexpr bool kDots = gate != Gate::none; ///< dot products per token
    static constexpr int kLag = gate == Gate::relu ? 2 : gate == Gate::token ? 1 : 0;
    static constexpr int kRowLag = gate == Gate::relu ? 2 : 0;

    const RowArgs& args;
    const StackArgs& stack;
    unsigned char* shared;
    const int thread = int(threadIdx.x); ///< in the group
    const int group = int(threadIdx.y);
    const int column = thread * L;
    const bool active = column < stack.width;
    const std::int64_t begin = blockIdx.y * args.rangeTokens; ///< the first token
    int tokens;
    int steps;       ///< tiles
    int firstSource; ///< of the group
    int sources;     ///< of the group, 0 .. S
    const T* source[S];
    std::uint64_t policy;
    int owned;
    // The finishing thread of a dot product.
    bool present;
    std::int64_t finishRow; ///< the index of [o, s, begin] in gateLogits and tokenGrad
    float inside;
    float scalarSum = 0;

    float weightSums[feature ? S : 1][O][L];
    float vectorSums[O][L];
    float threadSums[V];

    __device__ explicit RowWorker(const RowArgs& rowArgs)
        : args(rowArgs), stack(rowArgs.stack), shared(sharedMemory<unsigned char>())
    {
        const int subset = int(blockIdx.x);
        tokens = int(begin + args.rangeTokens < stack.tokens ? args.rangeTokens : stack.tokens - begin);
        steps = (tokens + args.tileTokens - 1) / args.tileTokens;
        const int subsetBegin = stack.sources * subset / int(gridDim.x);
        const int subsetSources = stack.sources * (subset + 1) / int(gridDim.x) - subsetBegin;
        firstSource = subsetBegin + subsetSources * group / int(blockDim.y);
        sources = subsetBegin + subsetSources * (group + 1) / int(blockDim.y) - firstSource;
#pragma unroll
        for (int k = 0; k < S; ++k) {
            source[k] = k < sources ? static_cast<const T*>(stack.source[firstSource + k]) : nullptr;
            if (source[k])
                source[k] += begin * stack.width + column;
        }
        policy = readOncePolicy();
        owned = ownedValue<V>(thread % 32);
        const int slot = thread / O;
        present = slot < sources && stack.source[firstSource + slot];
        finishRow = slot < sources ? rowAt(stack, thread % O, firstSource + slot, stack.tokens) + begin : 0;
        inside = present && stack.gateKind == GateKind::reluInside
                     ? scalarWeight<float>(stack, thread % O, firstSource + slot)
                     : 0.0F;
        zero();
    }

    __device__ void zero()
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

    __device__ int count(int step) const
    {
        const int rest = tokens - step * args.tileTokens;
        return rest < args.tileTokens ? rest : args.tileTokens;
    }

    /// Returns this thread's pack in the first slot of its group. The other slots are stack.width apart.
    __device__ T* rowPack(int place, int token) const
    {
        const int row = ((place * args.tileTokens + token) * int(blockDim.y) + group) * S;
        return reinterpret_cast<T*>(shared) + row * int(stack.width) + column;
    }

    /// Returns this thread's pack of the first output. The others are stack.width apart.
    __device__ T* gradPack(int place, int token) const
    {
        const int row = (place * args.tileTokens + token) * O;
        return reinterpret_cast<T*>(shared + args.gradsAt) + row * int(stack.width) + column;
    }

    /// Returns the group's padded values of one token in an array [places, tileTokens, groups, kPadded].
    __device__ float* values(int offset, int place, int token) const
    {
        return reinterpret_cast<float*>(shared + offset) +
               ((place * args.tileTokens + token) * int(blockDim.y) + group) * kPadded;
    }

    __device__ float* parts(int place, int token, int warp) const
    {
        const int warps = int(blockDim.x) / 32;
        return reinterpret_cast<float*>(shared + args.partsAt) +
               (((place * args.tileTokens + token) * int(blockDim.y) + group) * warps + warp) * kPadded;
    }

    /// Fills the slots without a source with zeros, once.
    __device__ void clearAbsent(int places) const
    {
        for (int row = 0; row < places * args.tileTokens && active; ++row)
#pragma unroll
            for (int k = 0; k < S; ++k)
                if (!source[k])
                    *reinterpret_cast<Pack<T, L>*>(rowPack(0, 0) + (row * int(blockDim.y) * S + k) * int(stack.width)) =
                        Pack<T, L>{};
    }

    /// Starts the copies of a tile.
    __device__ void copy(int step, int rowPlace, int gradPlace, int logitPlace) const
    {
        const int first = step * args.tileTokens;
        const int number = count(step);
        for (int token = 0; token < number && active; ++token) {
            T* to = rowPack(rowPlace, token);
            const std::int64_t at = (first + token) * stack.width;
#pragma unroll
            for (int k = 0; k < S; ++k)
                if (source[k])
                    copyReadOnce(to + k * int(stack.width), source[k] + at, policy);
        }
        for (int row = group; row < number * O && active; row += int(blockDim.y)) {
            const std::int64_t at = (begin + first + row / O) * stack.width + column;
            __pipeline_memcpy_async(gradPack(gradPlace, 0) + row * int(stack.width),
                                    static_cast<const T*>(args.outGrad[row % O]) + at, 16);
        }
        if constexpr (gate == Gate::relu)
            for (int token = 0; token < number && thread < V && present; ++token)
                copyLogit(first + token, token, logitPlace);
    }

    __device__ void copyLogit(int n, int token, int place) const
    {
        __pipeline_memcpy_async(values(args.logitsAt, place, token) + thread, args.gateLogits + finishRow + n, 4);
        if (args.rstd)
            __pipeline_memcpy_async(values(args.rstdAt, place, token) + thread,
                                    args.rstd + (firstSource + thread / O) * stack.tokens + begin + n, 4);
    }

    /// Computes the dot products of a tile per warp, and adds the terms of a per-feature weight's gradient.
    __device__ void products(int step, int rowPlace, int gradPlace)
    {
        if (sources == 0)
            return;
        const int number = count(step);
#pragma unroll 1
        for (int token = 0; token < number; ++token) {
            float dots[V] = {};
            if (active) {
                float x[S][L];
#pragma unroll
                for (int k = 0; k < S; ++k)
                    load(rowPack(rowPlace, token) + k * int(stack.width), x[k]);
#pragma unroll
                for (int o = 0; o < O; ++o) {
                    float g[L];
                    load(gradPack(gradPlace, token) + o * int(stack.width), g);
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
            if constexpr (kDots) {
                foldOverWarp<V>(dots);
                if (owned >= 0)
                    parts(step % 2, token, thread / 32)[owned] = dots[0];
            } else if constexpr (!feature) {
#pragma unroll
                for (int v = 0; v < V; ++v)
                    threadSums[v] += dots[v];
            }
        }
    }

    __device__ float addWarps(int place, int token) const
    {
        float sum = 0;
        for (int warp = 0; warp < int(blockDim.x) / 32; ++warp)
            sum += parts(place, token, warp)[thread];
        return sum;
    }

    /// One thread per dot product: writes tokenGrad and the factors of x in gateVectorGrad.
    __device__ void finish(int step, int logitPlace)
    {
        if (sources == 0 || thread >= kPadded)
            return;
        const int number = count(step);
        for (int token = 0; token < number; ++token) {
            float gradient = 0;
            float factor = 0;
            if (thread < V && present) {
                const float product = addWarps(step % 2, token);
                gradient = product;
                if constexpr (gate == Gate::relu) {
                    const float z = values(args.logitsAt, logitPlace, token)[thread];
                    gradient *= reluGrad(inside + z, stack.reluGradAtZero);
                    factor = args.rstd ? gradient * values(args.rstdAt, logitPlace, token)[thread] : gradient;
                }
                scalarSum += stack.gateKind == GateKind::reluInside ? gradient : product;
            }
            if (args.tokenGrad && thread < V && thread / O < sources)
                args.tokenGrad[finishRow + step * args.tileTokens + token] = gradient;
            if (gate == Gate::relu)
                values(args.gatesAt, step % 2, token)[thread] = factor;
        }
    }

    /// Adds the terms of gateVectorGrad.
    __device__ void vectors(int step, int rowPlace)
    {
        if (sources == 0 || !active)
            return;
        const int number = count(step);
#pragma unroll 1
        for (int token = 0; token < number; ++token) {
            float q[kPadded];
#pragma unroll
            for (int v = 0; v < kPadded; v += 4) {
                float part[4];
                load(values(args.gatesAt, step % 2, token) + v, part);
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    q[v + i] = part[i];
            }
#pragma unroll
            for (int k = 0; k < S; ++k) {
                float x[L];
                load(rowPack(rowPlace, token) + k * int(stack.width), x);
#pragma unroll
                for (int o = 0; o < O; ++o)
#pragma unroll
                    for (int l = 0; l < L; ++l)
                        vectorSums[o][l] += q[k * O + o] * x[l];
            }
        }
    }

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
        RingPlace copiedRow{ahead, ahead + 1 + kRowLag};
        RingPlace copiedGrad{ahead, ahead + 1};
        RingPlace copiedLogit{ahead, ahead + 2};
        RingPlace row{0, copiedRow.size};
        RingPlace lateRow{0, copiedRow.size};
        RingPlace grad{0, copiedGrad.size};
        RingPlace logit{0, copiedLogit.size};
        clearAbsent(copiedRow.size);
        for (int step = 0; step < ahead; ++step) {
            if (step < steps)
                copy(step, step, step, step);
            __pipeline_commit();
        }
        waitForNext();
        for (int step = 0; step < steps + kLag; ++step) {
            if (step + ahead < steps)
                copy(step + ahead, copiedRow.at, copiedGrad.at, copiedLogit.at);
            __pipeline_commit();
            if (step < steps)
                products(step, row.at, grad.at);
            if (kDots && step >= 1 && step <= steps) {
                finish(step - 1, logit.at);
                logit.next();
            }
            if (kLag == 2 && step >= 2) {
                vectors(step - 2, lateRow.at);
                lateRow.next();
            }
            copiedRow.next();
            copiedGrad.next();
            copiedLogit.next();
            row.next();
            grad.next();
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
                        sums[l] = source[k] ? weightSums[k][o][l] : 0;
                    if (k < sources && active && weights)
                        store(weights + rowAt(stack, o, firstSource + k, stack.width) + column, sums);
                }
        } else {
            if constexpr (!kDots) {
                foldOverWarp<V>(threadSums);
                if (owned >= 0)
                    parts(0, 0, thread / 32)[owned] = threadSums[0];
                __syncthreads();
                scalarSum = thread < V && present ? addWarps(0, 0) : 0;
            }
            if (weights && thread < V && thread / O < sources)
                weights[rowAt(stack, thread % O, firstSource + thread / O, 1)] = scalarSum;
        }
        if (gate == Gate::relu && args.vectorPartial)
            writeVectors();
    }

    /// Adds the groups' sums in order, in the memory of the rows.
    __device__ void writeVectors()
    {
        float* sums = reinterpret_cast<float*>(shared) + column;
        float* to = args.vectorPartial + (blockIdx.y * std::int64_t(gridDim.x) + blockIdx.x) * O * stack.width + column;
        for (int turn = 0; turn < int(blockDim.y); ++turn) {
            if (group == turn && active)
#pragma unroll
                for (int o = 0; o < O; ++o) {
                    if (turn > 0) {
                        float before[L];
                        load(static_cast<const float*>(sums + o * stack.width), before);
#pragma unroll
                        for (int l = 0; l < L; ++l)
                            vectorSums[o][l] += before[l];
                    }
                    store(turn + 1 == int(blockDim.y) ? to + o * stack.width : sums + o * stack.width, vectorSums[o]);
                }
            __syncthreads();
        }
    }
};

template <class T, int O, bool feature, Gate gate>
__global__ void __launch_bounds__(kMostThreads, 1) weightGradStreams(const __grid_constant__ RowArgs args)
{
    RowWorker<T, O, feature, gate> worker(args);
    worker.run();
    worker.write();
}

std::int64_t elementSize(DataType type)
{
    return type == DataType::bfloat16 ? 2 : 4;
}

Gate gateOf(GateKind kind)
{
    return isRelu(kind) ? Gate::relu : kind == GateKind::token ? Gate::token : Gate::none;
}

/// The split into blocks. Depends on the shape and the requested results only.
struct Split {
    int lanes;
    int slots;
    int groupThreads;
    int groups;
    int resident; ///< blocks per multiprocessor
    int subsets;
    std::int64_t rangeTokens;
    std::int64_t ranges;
    std::int64_t weightStride;
    std::int64_t vectorElements;
};

Split splitOf(const MixWeightGrad& mix)
{
    const MixStack& stack = mix.stack;
    const bool feature = stack.weightKind == WeightKind::perFeature;
    Split split{};
    split.lanes = int(16 / elementSize(stack.dataType));
    split.slots = slotsOf(split.lanes, stack.outputs, feature, gateOf(stack.gateKind));
    split.groupThreads = (int(stack.width / split.lanes) + 31) / 32 * 32;
    const int most = kMostThreads / split.groupThreads * split.slots;
    split.subsets = (stack.sources + most - 1) / most;
    const int sources = (stack.sources + split.subsets - 1) / split.subsets;
    split.groups = (sources + split.slots - 1) / split.slots;
    split.resident = std::min(kMostResident, kMostThreads / (split.groups * split.groupThreads));
    const std::int64_t wanted = std::max(1, kMultiprocessors * split.resident / split.subsets);
    const std::int64_t ranges = std::clamp<std::int64_t>(stack.tokens / kFewTokens, 1, wanted);
    split.rangeTokens = (stack.tokens + ranges - 1) / ranges;
    split.ranges = split.rangeTokens ? (stack.tokens + split.rangeTokens - 1) / split.rangeTokens : 0;
    const std::int64_t rows = std::int64_t(stack.outputs) * stack.sources;
    if (mix.weightGrad)
        split.weightStride = (rows * (feature ? stack.width : 1) + 3) / 4 * 4;
    split.vectorElements = mix.gateVectorGrad ? stack.outputs * stack.width : 0;
    return split;
}

/// Sets the offsets in shared memory and returns its size.
std::size_t layOut(RowArgs& args, const Split& split, const MixStack& stack)
{
    const Gate gate = gateOf(stack.gateKind);
    const std::int64_t row = stack.width * elementSize(stack.dataType) * args.tileTokens;
    const std::int64_t padded = paddedValues(split.slots * stack.outputs);
    const std::int64_t value = padded * std::int64_t(sizeof(float)) * args.tileTokens * split.groups;
    std::int64_t bytes = (args.ahead + (gate == Gate::relu ? 3 : 1)) * row * split.groups * split.slots;
    const auto take = [&](int& at, std::int64_t size) {
        at = int(bytes);
        bytes += size;
    };
    take(args.gradsAt, (args.ahead + 1) * row * stack.outputs);
    take(args.partsAt, 2 * value * (split.groupThreads / 32));
    if (gate == Gate::relu) {
        take(args.gatesAt, 2 * value);
        take(args.logitsAt, (args.ahead + 2) * value);
        take(args.rstdAt, args.rstd ? (args.ahead + 2) * value : 0);
    }
    return std::size_t(bytes);
}

/// Chooses the deepest rings that fit the device. Returns the bytes of shared memory, or 0 if none fit.
std::size_t chooseRings(RowArgs& args, const Split& split, const MixStack& stack)
{
    struct Depth {
        int tileTokens, ahead;
    };
    constexpr Depth kDepths[] = {{2, 3}, {2, 2}, {1, 3}, {1, 2}, {1, 1}};
    int device = 0;
    int most = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
        return 0;
    // Each block also takes 1 KiB that the system reserves.
    const std::size_t each = (std::size_t(most) + 1024) / std::size_t(split.resident) - 1024;
    for (const Depth& depth : kDepths) {
        args.tileTokens = depth.tileTokens;
        args.ahead = depth.ahead;
        const std::size_t bytes = layOut(args, split, stack);
        if (bytes <= each || (depth.tileTokens + depth.ahead == 2 && bytes <= std::size_t(most)))
            return bytes;
    }
    return 0;
}

RowArgs rowArgs(const MixWeightGrad& mix, const Split& split)
{
    RowArgs args{};
    args.stack = argsOf(mix.stack);
    for (int o = 0; o < mix.stack.outputs; ++o)
        args.outGrad[o] = mix.outGrad[o];
    args.gateLogits = static_cast<const float*>(mix.gateLogits);
    args.rstd = mix.stack.gateInput == GateInput::normalised ? static_cast<const float*>(mix.rstd) : nullptr;
    args.tokenGrad = static_cast<float*>(mix.tokenGrad);
    float* workspace = static_cast<float*>(mix.workspace);
    args.weightPartial = mix.weightGrad ? workspace : nullptr;
    args.vectorPartial = mix.gateVectorGrad ? workspace + split.ranges * split.weightStride : nullptr;
    args.weightStride = split.weightStride;
    args.rangeTokens = split.rangeTokens;
    return args;
}

template <class T, int O, bool feature>
Status launchGate(const RowArgs& args, const Split& split, std::size_t shared, void* stream)
{
    const dim3 grid(unsigned(split.subsets), unsigned(split.ranges));
    const dim3 block(unsigned(split.groupThreads), unsigned(split.groups));
    switch (gateOf(args.stack.gateKind)) {
    case Gate::none:
        return launch(weightGradStreams<T, O, feature, Gate::none>, grid, block, shared, stream, args);
    case Gate::token:
        return launch(weightGradStreams<T, O, feature, Gate::token>, grid, block, shared, stream, args);
    default:
        return launch(weightGradStreams<T, O, feature, Gate::relu>, grid, block, shared, stream, args);
    }
}

template <class T>
Status launchRows(const RowArgs& args, const Split& split, int outputs, std::size_t shared, void* stream)
{
    return withOutputs(outputs, [&](auto count) {
        constexpr int kOutputs = decltype(count)::kValue;
        return args.stack.weightKind == WeightKind::perFeature
                   ? launchGate<T, kOutputs, true>(args, split, shared, stream)
                   : launchGate<T, kOutputs, false>(args, split, shared, stream);
    });
}

} // namespace

bool hasRowForm(const MixWeightGrad& mix)
{
    const MixStack& stack = mix.stack;
    if (stack.dataType == DataType::float64)
        return false;
    const std::int64_t lanes = 16 / elementSize(stack.dataType);
    const bool masked = stack.weightKind == WeightKind::perFeature && stack.gateKind == GateKind::reluInside;
    return stack.width % lanes == 0 && stack.width / lanes <= kMostThreads && !masked;
}

std::size_t rowFormWorkspace(const MixWeightGrad& mix)
{
    const Split split = splitOf(mix);
    return std::size_t(split.ranges * (split.weightStride + split.subsets * split.vectorElements)) * sizeof(float);
}

bool rowFormFits(const MixWeightGrad& mix)
{
    bool all = true;
    for (std::int32_t s = 0; s < mix.stack.sources; ++s)
        all = all && aligned(mix.stack.source[s]);
    for (int o = 0; o < mix.stack.outputs; ++o)
        all = all && aligned(mix.outGrad[o]);
    const Split split = splitOf(mix);
    RowArgs args = rowArgs(mix, split);
    return all && chooseRings(args, split, mix.stack) > 0;
}

Status rowFormWeightGrad(const MixWeightGrad& mix, void* stream)
{
    const MixStack& stack = mix.stack;
    const Split split = splitOf(mix);
    RowArgs args = rowArgs(mix, split);
    const std::size_t shared = chooseRings(args, split, stack);
    Status status = stack.dataType == DataType::bfloat16
                        ? launchRows<Bf16>(args, split, stack.outputs, shared, stream)
                        : launchRows<float>(args, split, stack.outputs, shared, stream);
    const std::int64_t rows = std::int64_t(stack.outputs) * stack.sources;
    const std::int64_t weights = rows * (stack.weightKind == WeightKind::perFeature ? stack.width : 1);
    if (status == Status::ok && mix.weightGrad)
        status =
            addPartials<float>({args.weightPartial, mix.weightGrad, weights, split.weightStride, split.ranges}, stream);
    if (status == Status::ok && mix.gateVectorGrad)
        status = addPartials<float>({args.vectorPartial, mix.gateVectorGrad, split.vectorElements, split.vectorElements,
                                     split.ranges * split.subsets},
                                    stream);
    return status;
}

} // namespace residua::kernels::cuda
