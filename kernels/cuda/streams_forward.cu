// SPDX-License-Identifier: GPL-3.0-or-later
// Forward of a site of parallel streams: a block writes the new streams of a few tokens and then reads them again, from
// a cache, for the norm, the logits and the read. The tokens share each load of φ.
#include "kernels/cuda/row_reduce.cuh"
#include "kernels/cuda/streams.cuh"

namespace residua::kernels::cuda {
namespace {

constexpr int kTokens = 16;    ///< of a block
constexpr int kTileTokens = 8; ///< that one warp multiplies with kTileRows rows of φ
constexpr int kTileRows = 4;

/// The numbers of a block's tokens in shared memory, each array with the token last.
struct Layout {
    int sums;  ///< after the write's weights [n·(n + B)]: products [n, M], then logits in their place
    int norms; ///< 1/rms or 1/deviation [n]
    int reads; ///< [R, n]
    int size;
};

__host__ __device__ inline Layout layoutOf(const StreamSite& site)
{
    Layout layout{};
    layout.sums = site.branches > 0 ? site.streams * (site.streams + site.branches) * kTokens : 0;
    layout.norms = layout.sums + site.streams * site.logits * kTokens;
    layout.reads = layout.norms + site.streams * kTokens;
    layout.size = layout.reads + site.reads * site.streams * kTokens;
    return layout;
}

template <class T, int L, int most>
struct Block {
    using A = Accumulator<T>;
    const StreamsForward& call;
    SiteNumbers<A> numbers;
    Layout layout;
    A* shared;
    std::int64_t first; ///< token
    int tokens;

    __device__ std::int64_t packs() const { return call.site.width / L; }
    __device__ int warp() const { return int(threadIdx.x) / 32; }
    __device__ int lane() const { return int(threadIdx.x) % 32; }

    /// Calls body(token, column) for all packs of the block's tokens.
    template <class Body>
    __device__ void eachPack(Body body) const
    {
        const int count = tokens * int(packs());
        for (int i = int(threadIdx.x); i < count; i += kThreads)
            body(i / int(packs()), std::int64_t(i % int(packs())) * L);
    }

    __device__ void write() const
    {
        const StreamSite& site = call.site;
        const int sources = numbers.sources();
        for (int i = int(threadIdx.x); i < site.streams * sources * tokens; i += kThreads)
            shared[i / tokens * kTokens + i % tokens] = numbers.weight(i / tokens, first + i % tokens);
        __syncthreads();
        eachPack([&](int token, std::int64_t column) {
            const std::int64_t at = (first + token) * site.width + column;
            A sum[most][L] = {};
            for (int k = 0; k < sources; ++k) {
                A value[L];
                loadAt<L, T>(k < site.streams ? site.old[k] : site.branch[k - site.streams], at, value);
#pragma unroll
                for (int t = 0; t < most; ++t) {
                    if (t < site.streams) {
                        const A weight = shared[(t * sources + k) * kTokens + token];
#pragma unroll
                        for (int l = 0; l < L; ++l)
                            sum[t][l] += weight * value[l];
                    }
                }
            }
#pragma unroll
            for (int t = 0; t < most; ++t)
                if (t < site.streams)
                    store(static_cast<T*>(call.stream[t]) + at, sum[t]);
        });
        __syncthreads();
    }

    /// Writes rstd of the block's tokens, and of a centred norm the means.
    __device__ void norms() const
    {
        const StreamSite& site = call.site;
        for (int token = warp(); token < tokens; token += kWarps) {
            const std::int64_t n = first + token;
            A all = 0;
            for (int s = 0; s < site.streams; ++s) {
                A square = 0;
                A sum = 0;
                for (std::int64_t pack = lane(); pack < packs(); pack += 32) {
                    A x[L];
                    loadAt<L, T>(call.stream[s], n * site.width + pack * L, x);
#pragma unroll
                    for (int l = 0; l < L; ++l) {
                        square += x[l] * x[l];
                        sum += x[l];
                    }
                }
                square = warpSum(square);
                all += square;
                if (numbers.isAll())
                    continue;
                A variance = square / A(site.width);
                if (site.norm == StreamNorm::centred) {
                    const A mean = warpSum(sum) / A(site.width);
                    variance = relu(variance - mean * mean);
                    if (lane() == 0)
                        static_cast<A*>(call.mean)[s * site.tokens + n] = mean;
                }
                keepNorm(s, token, variance);
            }
            if (numbers.isAll())
                keepNorm(0, token, all / A(site.width * site.streams));
        }
    }
    __device__ void keepNorm(int norm, int token, A variance) const
    {
        const A rstd = 1 / sqrt(variance + A(call.site.eps));
        if (lane() != 0)
            return;
        shared[layout.norms + norm * kTokens + token] = rstd;
        static_cast<A*>(call.rstd)[norm * call.site.tokens + first + token] = rstd;
    }

    /// Computes <x, φ> of every stream: a warp multiplies kTileTokens tokens with kTileRows rows.
    __device__ void products() const
    {
        const StreamSite& site = call.site;
        const int groups = (site.logits + kTileRows - 1) / kTileRows;
        const int tiles = (tokens + kTileTokens - 1) / kTileTokens;
        for (int item = warp(); item < groups * tiles * site.streams; item += kWarps) {
            const int tile = item % tiles * kTileTokens;
            const int m = item / tiles % groups * kTileRows;
            multiply(item / tiles / groups, m, tile);
        }
    }
    __device__ void multiply(int stream, int m, int tile) const
    {
        const StreamSite& site = call.site;
        A sums[kTileTokens * kTileRows] = {};
        for (std::int64_t pack = lane(); pack < packs(); pack += 32) {
            A row[kTileRows][L];
#pragma unroll
            for (int j = 0; j < kTileRows; ++j)
                load(numbers.rows(stream, m + j < site.logits ? m + j : m) + pack * L, row[j]);
#pragma unroll
            for (int i = 0; i < kTileTokens; ++i) {
                A x[L];
                const std::int64_t n = first + (tile + i < tokens ? tile + i : tile);
                loadAt<L, T>(call.stream[stream], n * site.width + pack * L, x);
#pragma unroll
                for (int j = 0; j < kTileRows; ++j)
#pragma unroll
                    for (int l = 0; l < L; ++l)
                        sums[i * kTileRows + j] += x[l] * row[j][l];
            }
        }
        foldOverWarp<kTileTokens * kTileRows>(sums);
        const int value = ownedValue<kTileTokens * kTileRows>(lane());
        const int token = tile + value / kTileRows;
        const int row = m + value % kTileRows;
        if (row < site.logits && token < tokens)
            shared[layout.sums + (stream * site.logits + row) * kTokens + token] = sums[0];
    }

    /// Replaces the products by the logits, and writes these.
    __device__ void logits() const
    {
        const StreamSite& site = call.site;
        const int count = numbers.norms() * site.logits * tokens;
        for (int i = int(threadIdx.x); i < count; i += kThreads) {
            const int index = i / tokens;
            const int token = i % tokens;
            A* const own = shared + layout.sums + index * kTokens + token;
            A sum = *own;
            for (int s = 1; s < site.streams && numbers.isAll(); ++s)
                sum += own[s * site.logits * kTokens];
            sum *= shared[layout.norms + index / site.logits * kTokens + token];
            *own = sum;
            static_cast<A*>(call.y)[index * site.tokens + first + token] = sum;
        }
    }

    __device__ void read() const
    {
        const StreamSite& site = call.site;
        A* const weights = shared + layout.reads;
        for (int i = int(threadIdx.x); i < site.reads * site.streams * tokens; i += kThreads) {
            const int r = i / tokens / site.streams;
            const int s = i / tokens % site.streams;
            const int token = i % tokens;
            const A y =
                site.read == StreamRead::fixed ? A(0) : shared[layout.sums + numbers.logitOf(r, s) * kTokens + token];
            weights[(r * site.streams + s) * kTokens + token] = numbers.readWeight(r, s, y);
        }
        __syncthreads();
        eachPack([&](int token, std::int64_t column) {
            const std::int64_t at = (first + token) * site.width + column;
            A x[most][L];
#pragma unroll
            for (int s = 0; s < most; ++s)
                if (s < site.streams)
                    loadAt<L, T>(call.stream[s], at, x[s]);
            for (int r = 0; r < site.reads; ++r) {
                A sum[L] = {};
#pragma unroll
                for (int s = 0; s < most; ++s) {
                    if (s < site.streams) {
                        const A weight = weights[(r * site.streams + s) * kTokens + token];
#pragma unroll
                        for (int l = 0; l < L; ++l)
                            sum[l] += weight * x[s][l];
                    }
                }
                store(static_cast<T*>(call.out[r]) + at, sum);
            }
        });
    }
};

template <class T, int L, int most>
__global__ void __launch_bounds__(kThreads) forwardStreams(const __grid_constant__ StreamsForward call)
{
    using A = Accumulator<T>;
    const std::int64_t first = std::int64_t(blockIdx.x) * kTokens;
    const std::int64_t left = call.site.tokens - first;
    const Block<T, L, most> block{
        call, {call.site}, layoutOf(call.site), sharedMemory<A>(), first, left < kTokens ? int(left) : kTokens};
    if (call.site.branches > 0)
        block.write();
    if (call.site.logits > 0) {
        block.norms();
        block.products();
        __syncthreads();
        block.logits();
        __syncthreads();
    }
    if (call.site.reads > 0)
        block.read();
}

} // namespace

Status streamsForward(const StreamsForward& streams, void* stream)
{
    const StreamSite& site = streams.site;
    if (const Status status = validate(streams); status != Status::ok || site.tokens == 0)
        return status;
    const bool packed =
        packable(site) && allAligned(streams.stream, site.streams) && allAligned(streams.out, site.reads);
    countCall(site.dataType, packed);
    return withStreamForm(site, packed, [&](auto data, auto lanes, auto most) {
        using T = decltype(data);
        const std::size_t shared = std::size_t(layoutOf(site).size) * sizeof(Accumulator<T>);
        return launch(forwardStreams<T, decltype(lanes)::kValue, decltype(most)::kValue>,
                      dim3(unsigned((site.tokens + kTokens - 1) / kTokens)), dim3(kThreads), shared, stream, streams);
    });
}

} // namespace residua::kernels::cuda
