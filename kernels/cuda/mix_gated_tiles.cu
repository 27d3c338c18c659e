// SPDX-License-Identifier: GPL-3.0-or-later
// mixForward for three outputs in bfloat16, with weights per feature and a relu gate. A block has all columns of four
// tokens, a warp a slice of the columns. Four sources are a chunk: its 16 rows of a slice are a left factor of the
// tensor cores, which compute the dot products with the gate vectors. These are split into two bfloat16 parts, whose 16
// bits have a rounding error of 2^-17, where the sources' is 2^-9.
//
// The loop over chunks is a pipeline with one barrier per step. Step i computes the dot products of chunk i in each
// warp, adds those of chunk i - 1 over the warps to get the gates, and adds the sources of chunk i - 2 to the sums. The
// chunks of a few groups of tokens follow each other without a pause. A warp copies its own rows to shared memory
// asynchronously, one step before it needs them.
#include "kernels/cuda/mix_forward.cuh"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/row_reduce.cuh"
#include "kernels/cuda/tensor_core.cuh"

#include <algorithm>

namespace residua::kernels::cuda {
namespace {

constexpr int kOutputs = 3;
constexpr int kTokens = 4;       ///< of a group
constexpr int kChunkSources = 4; ///< of a chunk
constexpr int kRows = kTokens * kChunkSources;
constexpr int kStages = 3; ///< of the ring of chunks: of the next step, of this one, and of the one before
constexpr int kValues = 4; ///< of a row: the dot products, and the sum of squares of a normalised gate
constexpr int kChunkValues = kRows * kValues;
constexpr std::int64_t kMostGroups = 4; ///< of a block
/// Blocks that keep every multiprocessor busy with several in turn.
constexpr std::int64_t kManyBlocks = 528;

struct TileArgs {
    GatedArgs gated;
    std::int64_t weightsApart; ///< bytes between the weights of two outputs
    int weightRow;             ///< bytes of the weights of a source
    int groups;                ///< of a block
};

/// A chunk in the sequence of a block.
struct Place {
    int token = 0;  ///< the first of its group, in the block
    int source = 0; ///< the first

    /// Goes to the next chunk. Returns true if that is the first one of a group.
    __device__ bool advance(int sources)
    {
        source += kChunkSources;
        if (source < sources)
            return false;
        source = 0;
        token += kTokens;
        return true;
    }
};

/// The choices that depend on the width. Each lane has kColumns adjacent columns of two tokens of a group.
template <int columns>
struct TileShape {
    static constexpr int kColumns = columns;
    static constexpr int kSlice = 16 * columns; ///< columns of a warp
    static constexpr int kStride = kSlice + 8;  ///< of rows in shared memory: 16 bytes aside, to use all banks
    static constexpr int kPacks = kSlice / 8;   ///< of 16 bytes
    static constexpr int kMostThreads = columns == 4 ? 384 : 512;
    static constexpr int kBlocks = columns == 4 ? 2 : 1; ///< on a multiprocessor that the registers must allow

    static std::size_t sharedBytes(std::int64_t width)
    {
        const std::size_t warps = std::size_t(width / kSlice);
        return warps * kStages * kRows * kStride * sizeof(Bf16) + 2 * (warps + 1) * kChunkValues * sizeof(float);
    }
};

/// The columns of a warp that a lane adds, and its shared memory: rows [warps, stages, rows, stride], partial sums
/// [2, warps, rows, values], gates [2, rows, values].
template <class Shape, bool inside, bool normalised>
struct TileThread {
    static constexpr int kColumns = Shape::kColumns;
    static constexpr int kStride = Shape::kStride;
    static constexpr int kAtOnce = 32 / Shape::kPacks;      ///< rows that a warp copies at once
    static constexpr int kCopiedTokens = kTokens / kAtOnce; ///< of a lane
    const TileArgs& tile;
    const GatedArgs& args = tile.gated;
    const std::int64_t begin = std::int64_t(blockIdx.x) * tile.groups * kTokens; ///< the block's first token
    const int lane = int(threadIdx.x % 32);
    const int warp = int(threadIdx.x / 32);
    const int warps = int(blockDim.x / 32);
    const int column = warp * Shape::kSlice + lane % 16 * kColumns;
    const int token = lane / 16 * 2;                              ///< the first of two
    const int partialsAt = warps * kStages * kRows * kStride / 2; ///< float32 numbers in shared memory
    const int gatesAt = partialsAt + 2 * warps * kChunkValues;
    // The lane's first element in a chunk's rows, for copies, left factors and sums.
    const int copiesAt = kept(rowAt(lane / Shape::kPacks) + lane % Shape::kPacks * 8);
    const int leftAt = kept(rowAt(lane % 16) + lane / 16 * 8);
    const int addsAt = kept(rowAt(token) + lane % 16 * kColumns);
    const int dotsAt = kept(partialsAt + warp * kChunkValues + lane);
    const int addedGatesAt = kept(gatesAt + token * kValues);
    /// The weights of source 0 and the first output in the lane's columns.
    const unsigned char* const firstWeight = reinterpret_cast<const unsigned char*>(args.weights + kept(column));
    RightTile vectors[Shape::kSlice / 16]; ///< two columns for each output
    std::int64_t copied[kCopiedTokens];    ///< the bytes of each source before what a lane copies, of a token
    float sums[2][kOutputs][kColumns];     ///< [token, output, column]

    __device__ explicit TileThread(const TileArgs& from) : tile(from)
    {
        const int o = lane / 8 < kOutputs ? lane / 8 : 0;
        const float* const u = args.gateVectors + o * args.width + warp * Shape::kSlice + lane % 4 * 2;
#pragma unroll
        for (int k = 0; k < Shape::kSlice / 16; ++k)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const SplitPair pair = split(u[16 * k + 8 * half], u[16 * k + 8 * half + 1]);
                const std::uint32_t part = lane / 4 % 2 == 0 ? pair.large : pair.small;
                vectors[k].word[half] = lane / 8 < kOutputs ? part : 0;
            }
    }

    /// Returns the first element of the warp's row in stage 0.
    __device__ int rowAt(int row) const
    {
        return (warp * kStages * kRows + row) * kStride;
    }

    /// Begins to copy a group's sources. Beyond the end, processes the last token again without storing it.
    __device__ void startCopies(const Place& place)
    {
#pragma unroll
        for (int i = 0; i < kCopiedTokens; ++i) {
            const std::int64_t wanted = begin + place.token + lane / Shape::kPacks + i * kAtOnce;
            const std::int64_t n = wanted < args.tokens ? wanted : args.tokens - 1;
            copied[i] = (n * args.width + warp * Shape::kSlice + lane % Shape::kPacks * 8) * std::int64_t(sizeof(Bf16));
        }
    }

    /// Starts to copy a chunk, whose missing sources are the last one again.
    __device__ void fetch(const Place& place, int stage) const
    {
        Bf16* const to = sharedMemory<Bf16>() + copiesAt + stage * kRows * kStride;
        const int last = args.present - 1 - place.source;
        if (last >= kChunkSources - 1)
            copyRows<true>(to, place.source, last);
        else
            copyRows<false>(to, place.source, last);
    }

    template <bool whole>
    __device__ void copyRows(Bf16* to, int first, int last) const
    {
#pragma unroll
        for (int j = 0; j < kChunkSources; ++j) {
            const auto* source = static_cast<const unsigned char*>(args.source[first + (whole || j < last ? j : last)]);
#pragma unroll
            for (int i = 0; i < kCopiedTokens; ++i)
                __pipeline_memcpy_async(to + (j * kTokens + i * kAtOnce) * kStride, source + copied[i], 16);
        }
    }

    /// Writes the warp's part of a chunk's dot products and squares.
    __device__ void multiply(int stage, int buffer) const
    {
        const Bf16* const from = sharedMemory<Bf16>() + leftAt + stage * kRows * kStride;
        SumTile dots{};
        // The products of the rows with rows 0 to 7 and with rows 8 to 15. Only the squares are used.
        SumTile low{};
        SumTile high{};
#pragma unroll
        for (int k = 0; k < Shape::kSlice / 16; ++k) {
            const LeftTile left = loadLeft(from + 16 * k);
            multiplyAdd(dots, left, vectors[k]);
            if constexpr (normalised) {
                multiplyAdd(low, left, {left.word[0], left.word[2]});
                multiplyAdd(high, left, {left.word[1], left.word[3]});
            }
        }
        float* const to = sharedMemory<float>() + dotsAt + buffer * warps * kChunkValues;
        if (lane % kValues < kOutputs) {
            to[0] = dots.sum[0] + dots.sum[1];
            to[32] = dots.sum[2] + dots.sum[3];
        }
        if (normalised && lane % 4 == lane / 8) {
            const bool isOdd = lane / 4 % 2;
            to[kOutputs - lane % 4] = isOdd ? low.sum[1] : low.sum[0];
            to[kOutputs - lane % 4 + 32] = isOdd ? high.sum[3] : high.sum[2];
        }
    }

    /// Adds the parts of all warps, and writes logits and gates. Thread i has value i of the chunk.
    __device__ void finish(const Place& place, int buffer) const
    {
        const int i = int(threadIdx.x);
        const int o = i % kValues;
        const float* const parts = sharedMemory<float>() + partialsAt + buffer * warps * kChunkValues + i;
        float value = 0;
#pragma unroll 2
        for (int w = 0; w < warps && (o < kOutputs || normalised); ++w)
            value += parts[w * kChunkValues];
        if (normalised) {
            const float squares = __shfl_sync(0xffffffffu, value, lane | (kValues - 1));
            const float rstd = 1.0F / sqrt(squares * args.perWidth + args.eps);
            value = o < kOutputs ? value * rstd : rstd;
        }
        sharedMemory<float>()[gatesAt + buffer * kChunkValues + i] = inside ? value : relu(value);
        const int row = i / kValues;
        const int s = place.source + row / kTokens;
        const std::int64_t n = begin + place.token + row % kTokens;
        float* const result = o < kOutputs ? args.gateLogits + o * args.sources * args.tokens : args.rstd;
        if (n >= args.tokens || (o == kOutputs && !normalised))
            return;
        if (s < args.present)
            result[args.index[s] * args.tokens + n] = value;
        for (int absent = args.present; s == 0 && absent < args.sources; ++absent)
            result[args.index[absent] * args.tokens + n] = 0;
    }

    /// Starts the sums of a group.
    __device__ void start(const Place& place)
    {
#pragma unroll
        for (int o = 0; o < kOutputs; ++o)
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                const auto* base = static_cast<const Bf16*>(args.base[o]);
                const std::int64_t n = begin + place.token + token + r;
                if (base && n < args.tokens) {
                    load(base + n * args.width + column, sums[r][o]);
                } else {
#pragma unroll
                    for (int l = 0; l < kColumns; ++l)
                        sums[r][o][l] = -0.0F; // keeps the sign of a single -0
                }
            }
    }

    /// Adds a chunk, whose gates are written.
    __device__ void add(const Place& place, int stage, int buffer)
    {
        const Bf16* const rows = sharedMemory<Bf16>() + addsAt + stage * kRows * kStride;
        const float* const gates = sharedMemory<float>() + addedGatesAt + buffer * kChunkValues;
        const int sources = args.present - place.source;
        if (sources >= kChunkSources)
            addSources<true>(place.source, sources, rows, gates);
        else
            addSources<false>(place.source, sources, rows, gates);
    }

    template <bool whole>
    __device__ void addSources(int first, int sources, const Bf16* rows, const float* gates)
    {
#pragma unroll
        for (int j = 0; j < kChunkSources && (whole || j < sources); ++j) {
            const unsigned char* weights = firstWeight + std::int64_t(args.index[first + j]) * tile.weightRow;
            float weight[kOutputs][kColumns];
#pragma unroll
            for (int o = 0; o < kOutputs; ++o, weights += tile.weightsApart)
                load(reinterpret_cast<const float*>(weights), weight[o]);
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                float gate[kValues];
                load(gates + (j * kTokens + r) * kValues, gate);
                float x[kColumns];
                loadWords(rows + (j * kTokens + r) * kStride, x);
#pragma unroll
                for (int o = 0; o < kOutputs; ++o)
#pragma unroll
                    for (int l = 0; l < kColumns; ++l) {
                        const float sum = weight[o][l] + gate[o];
                        sums[r][o][l] += (inside ? relu(sum) : sum) * x[l];
                    }
            }
        }
    }

    __device__ void store(const Place& place) const
    {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const std::int64_t n = begin + place.token + token + r;
            for (int o = 0; o < kOutputs && n < args.tokens; ++o)
                cuda::store(static_cast<Bf16*>(args.out[o]) + n * args.width + column, sums[r][o]);
        }
    }
};

/// Grid: blocks of args.groups groups of tokens. Block: the warps of a row.
template <class Shape, bool inside, bool normalised>
__global__ void __launch_bounds__(Shape::kMostThreads, Shape::kBlocks)
    mixGatedTiles(const __grid_constant__ TileArgs args)
{
    const GatedArgs& gated = args.gated;
    TileThread<Shape, inside, normalised> thread(args);
    const std::int64_t left = (gated.tokens - thread.begin + kTokens - 1) / kTokens;
    const int chunks = (gated.present + kChunkSources - 1) / kChunkSources;
    const int steps = int(left < args.groups ? left : args.groups) * chunks;
    Place fetched;
    Place finished;
    Place added;
    thread.startCopies(fetched);
    thread.fetch(fetched, 0);
    __pipeline_commit();
    if (fetched.advance(gated.present))
        thread.startCopies(fetched);
    thread.start(added);
    int stage = 0; // of chunk i
    for (int i = 0; i < steps + 2; ++i) {
        const int next = stage == kStages - 1 ? 0 : stage + 1; // of chunks i - 2 and i + 1
        if (i >= 2) {
            thread.add(added, next, i & 1);
            const Place before = added;
            if (added.advance(gated.present)) {
                thread.store(before);
                if (i <= steps) // else there is no other group
                    thread.start(added);
            }
            __syncwarp(); // all lanes have read what the copies replace
        }
        if (i + 1 < steps) {
            thread.fetch(fetched, next);
            if (fetched.advance(gated.present))
                thread.startCopies(fetched);
        }
        __pipeline_commit();
        if (i < steps) {
            __pipeline_wait_prior(1);
            __syncwarp();
            thread.multiply(stage, i & 1);
        }
        if (i >= 1 && i <= steps) {
            if (threadIdx.x < kChunkValues)
                thread.finish(finished, (i - 1) & 1);
            finished.advance(gated.present);
        }
        __syncthreads();
        stage = next;
    }
}

template <class Shape>
Status launchTiles(const MixStack& stack, const TileArgs& args, void* stream)
{
    const std::int64_t groups = (args.gated.tokens + kTokens - 1) / kTokens;
    const dim3 grid(unsigned((groups + args.groups - 1) / args.groups));
    const dim3 block(unsigned(args.gated.width / Shape::kSlice * 32));
    const std::size_t shared = Shape::sharedBytes(args.gated.width);
    const bool inside = stack.gateKind == GateKind::reluInside;
    if (stack.gateInput == GateInput::normalised)
        return inside ? launch(mixGatedTiles<Shape, true, true>, grid, block, shared, stream, args)
                      : launch(mixGatedTiles<Shape, false, true>, grid, block, shared, stream, args);
    return inside ? launch(mixGatedTiles<Shape, true, false>, grid, block, shared, stream, args)
                  : launch(mixGatedTiles<Shape, false, false>, grid, block, shared, stream, args);
}

using Narrow = TileShape<4>;
using Wide = TileShape<8>;

/// True if the rows of a shape have this width, and two warps at least, which finish a chunk.
template <class Shape>
bool holds(std::int64_t width)
{
    return width % Shape::kSlice == 0 && width >= 2 * Shape::kSlice &&
           width <= Shape::kMostThreads / 32 * Shape::kSlice;
}

} // namespace

bool hasGatedTiles(const MixStack& stack)
{
    if (!tensorFormsAreOn() || stack.dataType != DataType::bfloat16 || stack.outputs != kOutputs)
        return false;
    if (holds<Narrow>(stack.width))
        return Narrow::sharedBytes(stack.width) <= mostShared();
    return holds<Wide>(stack.width) && Wide::sharedBytes(stack.width) <= mostShared();
}

Status gatedTiles(const MixStack& stack, const GatedArgs& args, void* stream)
{
    const std::int64_t groups = (args.tokens + kTokens - 1) / kTokens;
    const std::int64_t row = args.width * std::int64_t(sizeof(float));
    const TileArgs tiles{args, args.sources * row, int(row),
                         int(std::clamp<std::int64_t>(groups / kManyBlocks, 1, kMostGroups))};
    return holds<Narrow>(stack.width) ? launchTiles<Narrow>(stack, tiles, stream)
                                      : launchTiles<Wide>(stack, tiles, stream);
}

} // namespace residua::kernels::cuda
