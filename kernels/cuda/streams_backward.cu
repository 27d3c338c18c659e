// SPDX-License-Identifier: GPL-3.0-or-later
// Backward of a site of parallel streams. A block goes over chunks of columns of a few tokens: first all threads
// compute the gradients of the new streams, where the tokens share each load of φ; then a warp for each token goes back
// through the write. A second kernel sums the gradient of φ over slices of tokens, a third adds the slices.
#include "kernels/cuda/partial_sums.cuh"
#include "kernels/cuda/streams.cuh"

namespace residua::kernels::cuda {
namespace {

constexpr int kTokens = kWarps;   ///< of a block
constexpr int kTileTokens = 4;    ///< that share a load of φ
constexpr int kChunkPacks = 64;   ///< packs of columns in a chunk
constexpr int kSlices = 32;       ///< of tokens, at most
constexpr int kSliceTokens = 64;  ///< at least
constexpr int kRowsOfThread = 8;  ///< rows of φ
constexpr int kStagedTokens = 32; ///< whose dz are in shared memory at a time
constexpr int kRowThreads = 128;

/// The numbers of a block's tokens in shared memory, each array with the token last but the gradients.
struct Layout {
    int reads;     ///< after the write's weights: [R, n]
    int readGrads; ///< [R, n]
    int products;  ///< dz
    int shrinks;   ///< of (x − mean) [norms]
    int gradients; ///< of a chunk of the new streams: [n, token, column]
    int size;
};

__host__ __device__ inline Layout layoutOf(const StreamSite& site, int lanes)
{
    Layout layout{};
    const int norms = site.norm == StreamNorm::all ? 1 : site.streams;
    layout.reads = site.branches > 0 ? site.streams * (site.streams + site.branches) * kTokens : 0;
    layout.readGrads = layout.reads + site.reads * site.streams * kTokens;
    layout.products = layout.readGrads + site.reads * site.streams * kTokens;
    layout.shrinks = layout.products + norms * site.logits * kTokens;
    layout.gradients = (layout.shrinks + norms * kTokens + 3) / 4 * 4;
    layout.size = layout.gradients + site.streams * kTokens * kChunkPacks * lanes;
    return layout;
}

template <class T, int L, int most>
struct Block {
    using A = Accumulator<T>;
    static constexpr int kColumns = kChunkPacks * L;
    const StreamsBackward& call;
    SiteNumbers<A> numbers;
    Layout layout;
    A* shared;
    std::int64_t first; ///< token
    int tokens;

    __device__ int warp() const { return int(threadIdx.x) / 32; }
    __device__ int lane() const { return int(threadIdx.x) % 32; }

    __device__ void loadWeights() const
    {
        const int count = call.site.branches > 0 ? call.site.streams * numbers.sources() * tokens : 0;
        for (int i = int(threadIdx.x); i < count; i += kThreads)
            shared[i / tokens * kTokens + i % tokens] = numbers.weight(i / tokens, first + i % tokens);
    }

    /// Computes the gradients of the reads' weights: a warp for each token.
    __device__ void readGradients() const
    {
        const StreamSite& site = call.site;
        const int token = warp();
        if (token >= tokens)
            return;
        const std::int64_t row = (first + token) * site.width;
        for (int r = 0; r < site.reads; ++r) {
            A sums[most] = {};
            for (std::int64_t column = lane() * L; column < site.width; column += 32 * L) {
                A grad[L];
                loadAt<L, T>(call.outGrad[r], row + column, grad);
#pragma unroll
                for (int s = 0; s < most; ++s) {
                    if (s < site.streams) {
                        A x[L];
                        loadAt<L, T>(call.stream[s], row + column, x);
#pragma unroll
                        for (int l = 0; l < L; ++l)
                            sums[s] += x[l] * grad[l];
                    }
                }
            }
#pragma unroll
            for (int s = 0; s < most; ++s) {
                const A sum = warpSum(sums[s]);
                if (s < site.streams && lane() == 0) {
                    const int index = r * site.streams + s;
                    shared[layout.readGrads + index * kTokens + token] = sum;
                    static_cast<A*>(call.readGrad)[index * site.tokens + first + token] = sum;
                }
            }
        }
    }

    __device__ A logit(int index, int token) const
    {
        return static_cast<const A*>(call.y)[index * call.site.tokens + first + token];
    }

    /// Computes dz, and the weights of the reads again.
    __device__ void productGradients() const
    {
        const StreamSite& site = call.site;
        for (int i = int(threadIdx.x); i < site.reads * site.streams * tokens; i += kThreads) {
            const int r = i / tokens / site.streams;
            const int s = i / tokens % site.streams;
            const A y = site.read == StreamRead::fixed ? A(0) : logit(numbers.logitOf(r, s), i % tokens);
            shared[layout.reads + (r * site.streams + s) * kTokens + i % tokens] = numbers.readWeight(r, s, y);
        }
        for (int i = int(threadIdx.x); i < numbers.norms() * site.logits * tokens; i += kThreads) {
            const int index = i / tokens;
            const int token = i % tokens;
            const int norm = index / site.logits;
            const int m = index % site.logits;
            const std::int64_t at = index * site.tokens + first + token;
            A grad = numbers.number(call.yGrad, at, A(0));
            const int r = numbers.isAll() ? 0 : m;
            const int s = numbers.isAll() ? m : norm;
            if (site.read != StreamRead::fixed && r < site.reads && s < site.streams)
                grad += shared[layout.readGrads + (r * site.streams + s) * kTokens + token] *
                        numbers.slope(r, s, logit(index, token));
            grad *= static_cast<const A*>(call.rstd)[norm * site.tokens + first + token];
            shared[layout.products + index * kTokens + token] = grad;
            static_cast<A*>(call.productGrad)[at] = grad;
        }
    }

    /// Computes the factors of x − mean, of the gradient through the norm.
    __device__ void shrinks() const
    {
        const StreamSite& site = call.site;
        const A features = A(numbers.isAll() ? site.width * site.streams : site.width);
        for (int i = int(threadIdx.x); i < numbers.norms() * tokens; i += kThreads) {
            const int norm = i / tokens;
            const int token = i % tokens;
            A sum = 0;
            for (int index = norm * site.logits; index < (norm + 1) * site.logits; ++index)
                sum += shared[layout.products + index * kTokens + token] * logit(index, token);
            if (site.logits > 0)
                sum *= static_cast<const A*>(call.rstd)[norm * site.tokens + first + token] / features;
            shared[layout.shrinks + norm * kTokens + token] = sum;
        }
    }

    /// Computes the gradients of the new streams in the columns from `chunk` on.
    __device__ void streamGradients(std::int64_t chunk) const
    {
        const StreamSite& site = call.site;
        const int pack = int(threadIdx.x) % kChunkPacks;
        const std::int64_t column = chunk + pack * L;
        constexpr int kTiles = kTokens / kTileTokens;
        for (int item = int(threadIdx.x) / kChunkPacks; item < site.streams * kTiles && column < site.width;
             item += kThreads / kChunkPacks) {
            const int tile = item % kTiles * kTileTokens;
            if (tile < tokens)
                gradientsOf(item / kTiles, tile, column, pack);
        }
    }
    __device__ void gradientsOf(int stream, int tile, std::int64_t column, int pack) const
    {
        const StreamSite& site = call.site;
        const int norm = numbers.isAll() ? 0 : stream;
        A grad[kTileTokens][L] = {};
#pragma unroll
        for (int i = 0; i < kTileTokens; ++i)
            if (tile + i < tokens)
                addDirect(stream, norm, tile + i, column, grad[i]);
        const A* row = site.logits > 0 ? numbers.rows(stream, 0) + column : nullptr;
        const A* dz = shared + layout.products + norm * site.logits * kTokens + tile;
        for (int m = 0; m < site.logits; ++m, row += site.width, dz += kTokens) {
            A value[L];
            load(row, value);
#pragma unroll
            for (int i = 0; i < kTileTokens; ++i)
#pragma unroll
                for (int l = 0; l < L; ++l)
                    grad[i][l] += dz[tile + i < tokens ? i : 0] * value[l];
        }
#pragma unroll
        for (int i = 0; i < kTileTokens; ++i) {
            if (tile + i >= tokens)
                continue;
            if (site.branches == 0)
                store(static_cast<T*>(call.oldGrad[stream]) + (first + tile + i) * site.width + column, grad[i]);
            else
                store(shared + layout.gradients + (stream * kTokens + tile + i) * kColumns + pack * L, grad[i]);
        }
    }
    /// Adds what reaches a stream without φ.
    __device__ void addDirect(int stream, int norm, int token, std::int64_t column, A (&grad)[L]) const
    {
        const StreamSite& site = call.site;
        const std::int64_t at = (first + token) * site.width + column;
        if (call.streamGrad[stream])
            loadAt<L, T>(call.streamGrad[stream], at, grad);
        for (int r = 0; r < site.reads; ++r) {
            A value[L];
            loadAt<L, T>(call.outGrad[r], at, value);
            const A weight = shared[layout.reads + (r * site.streams + stream) * kTokens + token];
#pragma unroll
            for (int l = 0; l < L; ++l)
                grad[l] += weight * value[l];
        }
        if (site.logits == 0)
            return;
        A x[L];
        loadAt<L, T>(call.stream[stream], at, x);
        const A mean = site.norm == StreamNorm::centred
                           ? static_cast<const A*>(call.mean)[stream * site.tokens + first + token]
                           : A(0);
        const A factor = shared[layout.shrinks + norm * kTokens + token];
#pragma unroll
        for (int l = 0; l < L; ++l)
            grad[l] -= factor * (x[l] - mean);
    }

    /// Goes back through the write of the warp's token, and adds to the gradients of its weights.
    __device__ void writeGradients(std::int64_t chunk, A (&sums)[most][2 * most]) const
    {
        const StreamSite& site = call.site;
        const int token = warp();
        if (token >= tokens)
            return;
        const int sources = numbers.sources();
        for (int pack = lane(); pack < kChunkPacks && chunk + pack * L < site.width; pack += 32) {
            const std::int64_t at = (first + token) * site.width + chunk + pack * L;
            A grad[most][L];
#pragma unroll
            for (int t = 0; t < most; ++t)
                if (t < site.streams)
                    load(static_cast<const A*>(shared) + layout.gradients + (t * kTokens + token) * kColumns + pack * L,
                         grad[t]);
#pragma unroll
            for (int k = 0; k < 2 * most; ++k) {
                if (k >= sources)
                    continue;
                const bool isStream = k < site.streams;
                A value[L];
                A sum[L] = {};
                loadAt<L, T>(isStream ? site.old[k] : site.branch[k - site.streams], at, value);
#pragma unroll
                for (int t = 0; t < most; ++t) {
                    if (t < site.streams) {
                        const A weight = shared[(t * sources + k) * kTokens + token];
#pragma unroll
                        for (int l = 0; l < L; ++l) {
                            sums[t][k] += value[l] * grad[t][l];
                            sum[l] += weight * grad[t][l];
                        }
                    }
                }
                store(static_cast<T*>(isStream ? call.oldGrad[k] : call.branchGrad[k - site.streams]) + at, sum);
            }
        }
    }

    __device__ void writeWeightGrads(const A (&sums)[most][2 * most]) const
    {
        const StreamSite& site = call.site;
        if (warp() >= tokens)
            return;
#pragma unroll
        for (int t = 0; t < most; ++t) {
#pragma unroll
            for (int k = 0; k < 2 * most; ++k) {
                const A sum = warpSum(sums[t][k]);
                if (t < site.streams && k < numbers.sources() && lane() == 0)
                    static_cast<A*>(call.weightGrad)[(t * numbers.sources() + k) * site.tokens + first + warp()] = sum;
            }
        }
    }
};

template <class T, int L, int most>
__global__ void __launch_bounds__(kThreads) backwardStreams(const __grid_constant__ StreamsBackward call)
{
    using A = Accumulator<T>;
    const std::int64_t first = std::int64_t(blockIdx.x) * kTokens;
    const std::int64_t left = call.site.tokens - first;
    const Block<T, L, most> block{
        call, {call.site}, layoutOf(call.site, L), sharedMemory<A>(), first, left < kTokens ? int(left) : kTokens};
    block.loadWeights();
    block.readGradients();
    __syncthreads();
    block.productGradients();
    __syncthreads();
    block.shrinks();
    __syncthreads();
    A sums[most][2 * most] = {};
    for (std::int64_t chunk = 0; chunk < call.site.width; chunk += Block<T, L, most>::kColumns) {
        block.streamGradients(chunk);
        if (call.site.branches == 0)
            continue;
        __syncthreads();
        block.writeGradients(chunk, sums);
        __syncthreads();
    }
    if (call.site.branches > 0)
        block.writeWeightGrads(sums);
}

/// Sums dz·x over a slice of tokens for one stream: [slices, n, M, w].
struct RowsArgs {
    StreamSite site;
    const void* stream[kMaxStreams];
    const void* productGrad;
    void* partial;
    std::int64_t sliceTokens;
    int groups; ///< of rows of φ
};

template <class T, int L>
__global__ void __launch_bounds__(kRowThreads) sumRows(const __grid_constant__ RowsArgs args)
{
    using A = Accumulator<T>;
    const StreamSite& site = args.site;
    A* const staged = sharedMemory<A>(); // [token][row]
    const int m = int(blockIdx.x) % args.groups * kRowsOfThread;
    const std::int64_t column = (std::int64_t(blockIdx.x) / args.groups * kRowThreads + threadIdx.x) * L;
    const int stream = int(blockIdx.y);
    const int norm = site.norm == StreamNorm::all ? 0 : stream;
    const std::int64_t begin = blockIdx.z * args.sliceTokens;
    const std::int64_t end = begin + args.sliceTokens < site.tokens ? begin + args.sliceTokens : site.tokens;
    A sums[kRowsOfThread][L] = {};
    for (std::int64_t from = begin; from < end; from += kStagedTokens) {
        __syncthreads();
        for (int i = int(threadIdx.x); i < kStagedTokens * kRowsOfThread; i += kRowThreads) {
            const int row = m + i / kStagedTokens;
            const std::int64_t token = from + i % kStagedTokens;
            const bool exists = row < site.logits && token < end;
            staged[i % kStagedTokens * kRowsOfThread + i / kStagedTokens] =
                exists ? static_cast<const A*>(args.productGrad)[(norm * site.logits + row) * site.tokens + token]
                       : A(0);
        }
        __syncthreads();
        for (std::int64_t token = from; token < end && token < from + kStagedTokens && column < site.width; ++token) {
            A x[L];
            loadAt<L, T>(args.stream[stream], token * site.width + column, x);
            const A* const dz = staged + (token - from) * kRowsOfThread;
#pragma unroll
            for (int j = 0; j < kRowsOfThread; ++j)
#pragma unroll
                for (int l = 0; l < L; ++l)
                    sums[j][l] += dz[j] * x[l];
        }
    }
    if (column >= site.width)
        return;
    const std::int64_t block = (std::int64_t(blockIdx.z) * site.streams + stream) * site.logits;
#pragma unroll
    for (int j = 0; j < kRowsOfThread; ++j)
        if (m + j < site.logits)
            store(static_cast<A*>(args.partial) + (block + m + j) * site.width + column, sums[j]);
}

std::int64_t slicesOf(std::int64_t tokens)
{
    const std::int64_t slices = (tokens + kSliceTokens - 1) / kSliceTokens;
    return slices < kSlices ? slices : kSlices;
}

template <class T, int L>
Status rowsGrad(const StreamsBackward& streams, void* stream)
{
    using A = Accumulator<T>;
    const StreamSite& site = streams.site;
    const std::int64_t slices = slicesOf(site.tokens);
    RowsArgs args{site,
                  {},
                  streams.productGrad,
                  streams.workspace,
                  (site.tokens + slices - 1) / slices,
                  (site.logits + kRowsOfThread - 1) / kRowsOfThread};
    for (std::int32_t s = 0; s < site.streams; ++s)
        args.stream[s] = streams.stream[s];
    const std::int64_t columns = (site.width / L + kRowThreads - 1) / kRowThreads;
    const Status status =
        launch(sumRows<T, L>, dim3(unsigned(columns * args.groups), unsigned(site.streams), unsigned(slices)),
               dim3(kRowThreads), kStagedTokens * kRowsOfThread * sizeof(A), stream, args);
    if (status != Status::ok)
        return status;
    const std::int64_t elements = streamRowElements(site);
    const bool isAll = site.norm == StreamNorm::all;
    return addPartials<A>(
        {streams.workspace, streams.rowsGrad, elements, elements, isAll ? slices : slices * site.streams}, stream);
}

} // namespace

std::size_t streamsBackwardWorkspace(const StreamsBackward& streams)
{
    const StreamSite& site = streams.site;
    const std::size_t bytes = site.dataType == DataType::float64 ? 8 : 4;
    return streams.rowsGrad ? std::size_t(slicesOf(site.tokens) * site.streams * site.logits * site.width) * bytes : 0;
}

Status streamsBackward(const StreamsBackward& streams, void* stream)
{
    if (const Status status = validate(streams); status != Status::ok)
        return status;
    const StreamSite& site = streams.site;
    const std::size_t needed = cuda::streamsBackwardWorkspace(streams);
    if (needed > streams.workspaceBytes || (needed > 0 && !streams.workspace))
        return Status::workspaceTooSmall;
    const bool hasRows = streams.rowsGrad && site.logits > 0;
    if (site.tokens == 0)
        return clear(hasRows ? streams.rowsGrad : nullptr,
                     std::size_t(streamRowElements(site)) * (site.dataType == DataType::float64 ? 8 : 4), stream);
    const bool packed = packable(site) && allAligned(streams.stream, site.streams) &&
                        allAligned(streams.streamGrad, site.streams) && allAligned(streams.outGrad, site.reads) &&
                        allAligned(streams.oldGrad, site.streams) && allAligned(streams.branchGrad, site.branches) &&
                        (!hasRows || aligned(streams.workspace));
    countCall(site.dataType, packed);
    return withStreamForm(site, packed, [&](auto data, auto lanes, auto most) {
        using T = decltype(data);
        constexpr int L = decltype(lanes)::kValue;
        const std::size_t shared = std::size_t(layoutOf(site, L).size) * sizeof(Accumulator<T>);
        const Status status =
            launch(backwardStreams<T, L, decltype(most)::kValue>, dim3(unsigned((site.tokens + kTokens - 1) / kTokens)),
                   dim3(kThreads), shared, stream, streams);
        return status == Status::ok && hasRows ? rowsGrad<T, L>(streams, stream) : status;
    });
}

} // namespace residua::kernels::cuda
