// SPDX-License-Identifier: GPL-3.0-or-later
// mixForward with weights per feature and a relu gate. A block has all columns of a few tokens: each thread has one
// pack of 16 bytes of each token, and keeps the sums of all outputs in registers while it loops over the sources.
//
// A weight depends on the dot product of its whole row. The loop therefore computes the dot products of source s + 1
// while it adds source s, with one barrier for each source. Each thread copies its own packs of the next sources to
// shared memory asynchronously, and reads them there for both uses, so that they take no registers in between.
#include "kernels/cuda/mix_forward.cuh"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/row_reduce.cuh"

#include <cuda_pipeline.h>

namespace residua::kernels::cuda {
namespace {

/// The choices that depend on the element type and the number of outputs. A thread has 16 bytes of each token, so a
/// block's threads bound the width. No case may need more registers than 65,536 / kMostThreads.
template <class T, int O>
struct GatedShape {
    static constexpr int kTokens = sizeof(T) == 2 && O == 1 ? 4 : 2; ///< of a block
    static constexpr int kStages = 4; ///< of the ring of copies, two more than sources on their way; a power of two
    static constexpr int kMostThreads = sizeof(T) == 2 && O == 4 ? 256 : 512;
    /// The blocks of kNarrowThreads on a multiprocessor that the registers must allow.
    static constexpr int kNarrowBlocks = sizeof(T) == 4 && O == 3 ? 3 : 1;
};
constexpr int kNarrowThreads = 256;

/// The tokens, columns and shared memory of a thread.
template <class T, int O, int kTokens, int kStages, bool inside, bool normalised>
struct GatedThread {
    static constexpr int kLanes = 16 / sizeof(T);
    static constexpr int kValues = kTokens * (O + (normalised ? 1 : 0)); ///< that are summed over a row
    static constexpr int kPadded = powerOfTwoFrom(kValues);
    const GatedArgs& args;
    std::int64_t first = std::int64_t(blockIdx.x) * kTokens;
    int column = int(threadIdx.x) * kLanes;
    bool isActive = column < args.width;
    int lane = threadIdx.x % 32;
    Words* ring = sharedMemory<Words>() + threadIdx.x; // [stages, tokens]
    float* partials = reinterpret_cast<float*>(sharedMemory<Words>() + kStages * kTokens * blockDim.x); // [2, count]
    std::int64_t at = first * args.width + (isActive ? column : 0);
    std::int32_t step[kTokens]; ///< elements from the first token's row
    float u[O][kLanes];
    int partialCount = partialsOf(blockDim.x); ///< of one source
    float* result;                             ///< the logit or rstd of source 0 that this thread writes, or null

    __device__ explicit GatedThread(const GatedArgs& from) : args(from)
    {
        const std::int64_t left = args.tokens - 1 - first;
        step[0] = 0;
#pragma unroll
        // Beyond the end, processes the last token again without storing it.
        for (int r = 1; r < kTokens; ++r)
            step[r] = std::int32_t((r < left ? r : left) * args.width);
#pragma unroll
        for (int o = 0; o < O; ++o) {
            if (isActive) {
                load(args.gateVectors + o * args.width + column, u[o]);
            } else {
#pragma unroll
                for (int l = 0; l < kLanes; ++l)
                    u[o][l] = 0;
            }
        }
        const int value = threadIdx.x;
        const std::int64_t n = first + value % kTokens;
        result = nullptr;
        if (value < kTokens * O && n < args.tokens)
            result = args.gateLogits + std::int64_t(value / kTokens) * args.sources * args.tokens + n;
        else if (value < kValues && n < args.tokens)
            result = args.rstd + n;
    }

    /// Returns the partial sums of a row: [warps, kPadded], padded to whole warps.
    __host__ __device__ static int partialsOf(unsigned threads)
    {
        return int(threads / 32 * kPadded + 31) / 32 * 32;
    }

    __device__ int slot(int s, int r) const
    {
        return ((s % kStages) * kTokens + r) * int(blockDim.x);
    }

    /// Clears what no thread writes: the ring of threads beyond the row, and the partial sums that pad a warp's.
    __device__ void clear()
    {
        for (int i = 0; !isActive && i < kStages * kTokens; ++i)
            ring[i * int(blockDim.x)] = Words{};
        for (int i = threadIdx.x; i < 2 * partialCount; i += blockDim.x)
            partials[i] = 0;
        for (int s = args.present; result && s < args.sources; ++s)
            result[args.index[s] * args.tokens] = 0;
    }

    /// Starts to copy a source; without one, starts an empty group of copies.
    __device__ void fetch(int s)
    {
        if (s < args.present && isActive) {
            const T* source = static_cast<const T*>(args.source[s]) + at;
#pragma unroll
            for (int r = 0; r < kTokens; ++r)
                __pipeline_memcpy_async(ring + slot(s, r), source + step[r], sizeof(Words));
        }
        __pipeline_commit();
    }

    /// Writes the warp's part of the dot products, and of the squares of a normalised gate. `owned` is the lane's
    /// value.
    __device__ void sumRow(int s, int owned)
    {
        float values[kValues];
#pragma unroll
        for (int r = 0; r < kTokens; ++r) {
            float wide[kLanes];
            widen(ring[slot(s, r)], wide);
#pragma unroll
            for (int o = 0; o < O + (normalised ? 1 : 0); ++o) {
                float sum = wide[0] * (o < O ? u[o < O ? o : 0][0] : wide[0]);
#pragma unroll
                for (int l = 1; l < kLanes; ++l)
                    sum += wide[l] * (o < O ? u[o < O ? o : 0][l] : wide[l]);
                values[o * kTokens + r] = sum;
            }
        }
        foldOverWarp<kValues>(values);
        if (owned >= 0)
            partials[(s & 1) * partialCount + int(threadIdx.x / 32) * kPadded + owned] = values[0];
    }

    /// Returns the coefficient of value lane % kPadded, and writes the logits.
    __device__ float coefficient(int s)
    {
        const float* from = partials + (s & 1) * partialCount + lane;
        float value = *from;
#pragma unroll 1
        for (int i = 32; i < partialCount; i += 32)
            value += from[i];
#pragma unroll
        for (int distance = kPadded; distance < 32; distance *= 2)
            value += __shfl_xor_sync(0xffffffffu, value, distance);
        if (normalised) {
            const float squares = __shfl_sync(0xffffffffu, value, kTokens * O + lane % kTokens);
            const float rstd = 1.0F / sqrt(squares * args.perWidth + args.eps);
            value = lane % kPadded < kTokens * O ? value * rstd : rstd;
        }
        if (result)
            result[args.index[s] * args.tokens] = value;
        return inside ? value : relu(value);
    }

    /// Adds source s, whose partial sums all warps have written. Has the weights of four columns at a time.
    __device__ void add(int s, float (&sums)[kTokens][O][kLanes])
    {
        constexpr int kColumns = 4;
        const float* weights = args.weights + args.index[s] * int(args.width) + (isActive ? column : 0);
        float weight[O][kColumns];
#pragma unroll
        for (int o = 0; o < O; ++o)
            load(weights + o * args.sources * int(args.width), weight[o]);
        const float mine = coefficient(s);
        float gate[O][kTokens];
#pragma unroll
        for (int o = 0; o < O; ++o)
#pragma unroll
            for (int r = 0; r < kTokens; ++r)
                gate[o][r] = __shfl_sync(0xffffffffu, mine, o * kTokens + r);
#pragma unroll
        for (int from = 0; from < kLanes; from += kColumns) {
#pragma unroll
            for (int r = 0; r < kTokens; ++r) {
                float wide[kLanes];
                widen(ring[slot(s, r)], wide);
#pragma unroll
                for (int o = 0; o < O; ++o)
#pragma unroll
                    for (int l = 0; l < kColumns; ++l) {
                        const float sum = weight[o][l] + gate[o][r];
                        sums[r][o][from + l] += (inside ? relu(sum) : sum) * wide[from + l];
                    }
            }
#pragma unroll
            for (int o = 0; o < O && from + kColumns < kLanes; ++o)
                load(weights + o * args.sources * int(args.width) + from + kColumns, weight[o]);
        }
    }
};

/// Grid: groups of tokens; block: the threads of a row. Shared memory: sharedBytes().
template <class T, int O, bool narrow, bool inside, bool normalised>
__global__ void __launch_bounds__(narrow ? kNarrowThreads : GatedShape<T, O>::kMostThreads,
                                  narrow ? GatedShape<T, O>::kNarrowBlocks : 1)
    mixGatedRows(const __grid_constant__ GatedArgs args)
{
    constexpr int kTokens = GatedShape<T, O>::kTokens;
    constexpr int kStages = GatedShape<T, O>::kStages;
    using Thread = GatedThread<T, O, kTokens, kStages, inside, normalised>;
    Thread thread(args);
    float sums[kTokens][O][Thread::kLanes];
#pragma unroll
    for (int o = 0; o < O; ++o)
#pragma unroll
        for (int r = 0; r < kTokens; ++r) {
            const T* base = static_cast<const T*>(args.base[o]);
            if (base && thread.isActive) {
                load(base + thread.at + thread.step[r], sums[r][o]);
            } else {
#pragma unroll
                // A sum that starts with -0 keeps the sign of a single -0.
                for (int l = 0; l < Thread::kLanes; ++l)
                    sums[r][o][l] = args.present > 0 ? -0.0F : 0.0F;
            }
        }
    thread.clear();
    if (args.present > 0) {
        const int owned = ownedValue<Thread::kValues>(thread.lane);
        for (int s = 0; s < kStages - 1; ++s)
            thread.fetch(s);
        __pipeline_wait_prior(kStages - 2);
        __syncthreads();
        thread.sumRow(0, owned);
        __syncthreads();
        for (int s = 0; s + 1 < args.present; ++s) {
            __pipeline_wait_prior(kStages - 3);
            thread.fetch(s + kStages - 1); // to the slot of source s - 1
            thread.sumRow(s + 1, owned);
            thread.add(s, sums);
            __syncthreads();
        }
        thread.add(args.present - 1, sums);
    }
#pragma unroll
    for (int r = 0; r < kTokens; ++r)
        for (int o = 0; o < O && thread.isActive && thread.first + r < args.tokens; ++o)
            store(static_cast<T*>(args.out[o]) + thread.at + thread.step[r], sums[r][o]);
}

template <class T, int O, bool inside, bool normalised>
Status launchGated(const GatedArgs& args, unsigned threads, void* stream)
{
    constexpr int kTokens = GatedShape<T, O>::kTokens;
    constexpr int kStages = GatedShape<T, O>::kStages;
    using Thread = GatedThread<T, O, kTokens, kStages, inside, normalised>;
    const std::size_t shared = std::size_t(kStages) * kTokens * threads * sizeof(Words) +
                               2 * std::size_t(Thread::partialsOf(threads)) * sizeof(float);
    const dim3 grid(unsigned((args.tokens + kTokens - 1) / kTokens));
    if constexpr (GatedShape<T, O>::kNarrowBlocks > 1)
        if (threads <= kNarrowThreads)
            return launch(mixGatedRows<T, O, true, inside, normalised>, grid, dim3(threads), shared, stream, args);
    return launch(mixGatedRows<T, O, false, inside, normalised>, grid, dim3(threads), shared, stream, args);
}

template <class T, int O>
Status launchGated(const MixStack& stack, const GatedArgs& args, void* stream)
{
    const auto threads = unsigned((stack.width * std::int64_t(sizeof(T)) / 16 + 31) / 32 * 32);
    const bool inside = stack.gateKind == GateKind::reluInside;
    if (stack.gateInput == GateInput::normalised)
        return inside ? launchGated<T, O, true, true>(args, threads, stream)
                      : launchGated<T, O, false, true>(args, threads, stream);
    return inside ? launchGated<T, O, true, false>(args, threads, stream)
                  : launchGated<T, O, false, false>(args, threads, stream);
}

GatedArgs gatedArgs(const MixForward& mix)
{
    const MixStack& stack = mix.stack;
    GatedArgs args{stack.tokens,
                   stack.width,
                   stack.sources,
                   0,
                   float(stack.eps),
                   1.0F / float(stack.width),
                   static_cast<const float*>(stack.weights),
                   static_cast<const float*>(stack.gateVectors),
                   static_cast<float*>(mix.gateLogits),
                   static_cast<float*>(mix.rstd),
                   {},
                   {},
                   {},
                   {}};
    for (int o = 0; o < stack.outputs; ++o) {
        args.base[o] = mix.base[o];
        args.out[o] = mix.out[o];
    }
    for (std::int32_t s = 0; s < stack.sources; ++s) {
        if (!stack.source[s])
            continue;
        args.source[args.present] = stack.source[s];
        args.index[args.present++] = std::int16_t(s);
    }
    for (std::int32_t s = 0, absent = args.present; s < stack.sources; ++s)
        if (!stack.source[s])
            args.index[absent++] = std::int16_t(s);
    return args;
}

} // namespace

bool hasGatedRows(const MixStack& stack)
{
    if (stack.dataType == DataType::float64 || !isRelu(stack.gateKind) || stack.weightKind != WeightKind::perFeature)
        return false;
    const bool isShort = stack.dataType == DataType::bfloat16;
    const std::int64_t bytes = stack.width * (isShort ? 2 : 4);
    int most = 0;
    static_cast<void>(withOutputs(stack.outputs, [&](auto outputs) {
        constexpr int kOutputs = decltype(outputs)::kValue;
        most = isShort ? GatedShape<Bf16, kOutputs>::kMostThreads : GatedShape<float, kOutputs>::kMostThreads;
        return Status::ok;
    }));
    return bytes % 16 == 0 && bytes <= most * 16;
}

Status gatedRows(const MixForward& mix, void* stream)
{
    const GatedArgs args = gatedArgs(mix);
    if (hasGatedTiles(mix.stack) && args.present > 0)
        return gatedTiles(mix.stack, args, stream);
    return withOutputs(mix.stack.outputs, [&](auto outputs) {
        constexpr int kOutputs = decltype(outputs)::kValue;
        return mix.stack.dataType == DataType::bfloat16 ? launchGated<Bf16, kOutputs>(mix.stack, args, stream)
                                                        : launchGated<float, kOutputs>(mix.stack, args, stream);
    });
}

} // namespace residua::kernels::cuda
