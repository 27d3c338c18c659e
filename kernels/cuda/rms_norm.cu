// SPDX-License-Identifier: GPL-3.0-or-later
// RMSNorm. The threads along x of a block share a row, and each keeps its packs of the row in registers, so memory is
// read once. If a row has more packs than kHeld times the maximum number of threads, the rest is read a second time,
// from a cache.
//
// Backward: each block processes rows at a fixed distance, and each thread adds its columns' weight gradients in
// registers. Every block then writes one row of partial sums, and a second kernel adds those in order, without atomics.
#include "kernels/cuda/kernels.cuh"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_args.cuh"
#include "kernels/cuda/partial_sums.cuh"

namespace residua::kernels::cuda {
namespace {

constexpr int kHeld = 4;        ///< packs of a row in a thread's registers
constexpr int kMaxBlocks = 264; ///< of the backward: two for each multiprocessor of an H100
constexpr int kSlots = 2 * kWarps;

/// Returns the sum over the threads of a row, in each of them. Must be called by every thread of the block, alternating
/// between the halves of `slots` [kSlots] from call to call.
template <class A>
__device__ inline A rowSum(A value, A* slots, int half)
{
    value = warpSum(value);
    if (blockDim.x == 32)
        return value;
    const unsigned warps = blockDim.x / 32;
    A* row = slots + half * kWarps + threadIdx.y * warps;
    if (threadIdx.x % 32 == 0)
        row[threadIdx.x / 32] = value;
    __syncthreads();
    A sum = 0;
    for (unsigned warp = 0; warp < warps; ++warp)
        sum += row[warp];
    return sum;
}

template <int L, class T>
__device__ inline Pack<T, L> packAt(const void* tensor, std::int64_t at)
{
    return *reinterpret_cast<const Pack<T, L>*>(static_cast<const T*>(tensor) + at);
}

template <int L, class T>
__device__ inline Pack<T, L>& packAt(void* tensor, std::int64_t at)
{
    return *reinterpret_cast<Pack<T, L>*>(static_cast<T*>(tensor) + at);
}

/// Loads weight[at ..], or ones.
template <int L, class A>
__device__ inline void loadWeight(const void* weight, std::int64_t at, A (&to)[L])
{
    if (weight) {
        load(static_cast<const A*>(weight) + at, to);
        return;
    }
#pragma unroll
    for (int l = 0; l < L; ++l)
        to[l] = 1;
}

struct ForwardArgs {
    std::int64_t tokens;
    std::int64_t width;
    double eps;
    const void* x;
    const void* residual;
    const void* weight;
    void* sum;
    void* y;
    void* rstd;
};

template <class T, class Y, int L>
struct Forward {
    using A = Accumulator<T>;
    const ForwardArgs& args;
    std::int64_t row; ///< the index of its first element

    /// Writes x + residual and returns the stored value, so that the backward sees the same numbers.
    __device__ Pack<T, L> add(const Pack<T, L>& x, const Pack<T, L>& residual, std::int64_t at) const
    {
        Pack<T, L> sum;
#pragma unroll
        for (int l = 0; l < L; ++l)
            narrow(sum.element[l], widen(x.element[l]) + widen(residual.element[l]));
        packAt<L, T>(args.sum, row + at) = sum;
        return sum;
    }

    __device__ static A squares(const Pack<T, L>& pack)
    {
        A sum = 0;
#pragma unroll
        for (int l = 0; l < L; ++l)
            sum += widen(pack.element[l]) * widen(pack.element[l]);
        return sum;
    }

    __device__ void write(const Pack<T, L>& pack, A rstd, std::int64_t at) const
    {
        A value[L];
        loadWeight(args.weight, at, value);
#pragma unroll
        for (int l = 0; l < L; ++l)
            value[l] *= widen(pack.element[l]) * rstd;
        store(static_cast<Y*>(args.y) + row + at, value);
    }
};

template <class T, class Y, int L>
__global__ void __launch_bounds__(kThreads) normForward(const __grid_constant__ ForwardArgs args)
{
    using A = Accumulator<T>;
    const std::int64_t n = std::int64_t(blockIdx.x) * blockDim.y + threadIdx.y;
    const std::int64_t packs = n < args.tokens ? args.width / L : 0;
    const Forward<T, Y, L> forward{args, n * args.width};
    Pack<T, L> held[kHeld];
    Pack<T, L> residual[kHeld];
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
        const std::int64_t pack = threadIdx.x + std::int64_t(k) * blockDim.x;
        if (pack < packs) {
            held[k] = packAt<L, T>(args.x, forward.row + pack * L);
            if (args.residual)
                residual[k] = packAt<L, T>(args.residual, forward.row + pack * L);
        }
    }
    A squares = 0;
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
        const std::int64_t pack = threadIdx.x + std::int64_t(k) * blockDim.x;
        if (pack < packs) {
            if (args.residual)
                held[k] = forward.add(held[k], residual[k], pack * L);
            squares += forward.squares(held[k]);
        }
    }
    const std::int64_t beyond = threadIdx.x + std::int64_t(kHeld) * blockDim.x;
    for (std::int64_t pack = beyond; pack < packs; pack += blockDim.x) {
        Pack<T, L> value = packAt<L, T>(args.x, forward.row + pack * L);
        if (args.residual)
            value = forward.add(value, packAt<L, T>(args.residual, forward.row + pack * L), pack * L);
        squares += forward.squares(value);
    }
    const A mean = rowSum(squares, sharedMemory<A>(), 0) / A(args.width);
    const A rstd = A(1) / sqrt(mean + A(args.eps));
    if (n < args.tokens && threadIdx.x == 0 && args.rstd)
        static_cast<A*>(args.rstd)[n] = rstd;
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
        const std::int64_t pack = threadIdx.x + std::int64_t(k) * blockDim.x;
        if (pack < packs)
            forward.write(held[k], rstd, pack * L);
    }
    const void* normalised = args.residual ? args.sum : args.x;
    for (std::int64_t pack = beyond; pack < packs; pack += blockDim.x)
        forward.write(packAt<L, T>(normalised, forward.row + pack * L), rstd, pack * L);
}

struct BackwardArgs {
    std::int64_t tokens;
    std::int64_t width;
    const void* yGrad;
    const void* x;
    const void* rstd;
    const void* weight;
    const void* sumGrad;
    void* xGrad;
    void* partial; ///< [blocks, stride], or null
    std::int64_t stride;
};

template <class T, class Y, int L>
struct Backward {
    using A = Accumulator<T>;
    const BackwardArgs& args;
    std::int64_t row;
    A rstd;

    __device__ A product(const Pack<Y, L>& grad, const Pack<T, L>& x, std::int64_t at) const
    {
        A weight[L];
        loadWeight(args.weight, at, weight);
        A sum = 0;
#pragma unroll
        for (int l = 0; l < L; ++l)
            sum += widen(grad.element[l]) * weight[l] * widen(x.element[l]);
        return sum;
    }

    /// Writes dx; `shrink` is mean(dy·weight·x)·rstd².
    __device__ void write(const Pack<Y, L>& grad, const Pack<T, L>& x, const Pack<T, L>& other, A shrink,
                          std::int64_t at) const
    {
        A value[L];
        loadWeight(args.weight, at, value);
#pragma unroll
        for (int l = 0; l < L; ++l) {
            value[l] = (widen(grad.element[l]) * value[l] - widen(x.element[l]) * shrink) * rstd;
            if (args.sumGrad)
                value[l] += widen(other.element[l]);
        }
        store(static_cast<T*>(args.xGrad) + row + at, value);
    }

    __device__ void addTo(A (&sums)[L], const Pack<Y, L>& grad, const Pack<T, L>& x) const
    {
#pragma unroll
        for (int l = 0; l < L; ++l)
            sums[l] += widen(grad.element[l]) * widen(x.element[l]) * rstd;
    }
};

/// The part of a row beyond the registers. Used only by blocks with one row, so each column belongs to one thread.
template <class T, class Y, int L>
struct Beyond {
    using A = Accumulator<T>;
    const Backward<T, Y, L>& backward;
    std::int64_t packs;

    template <class Body>
    __device__ void each(Body body) const
    {
        for (std::int64_t pack = threadIdx.x + std::int64_t(kHeld) * blockDim.x; pack < packs; pack += blockDim.x)
            body(pack * L, packAt<L, Y>(backward.args.yGrad, backward.row + pack * L),
                 packAt<L, T>(backward.args.x, backward.row + pack * L));
    }

    __device__ A product() const
    {
        A sum = 0;
        each([&](std::int64_t at, const Pack<Y, L>& grad, const Pack<T, L>& x) {
            sum += backward.product(grad, x, at);
        });
        return sum;
    }

    __device__ void write(A shrink, A* partial, bool first) const
    {
        each([&](std::int64_t at, const Pack<Y, L>& grad, const Pack<T, L>& x) {
            if (partial) {
                A sums[L] = {};
                if (!first)
                    load(static_cast<const A*>(partial) + at, sums);
                backward.addTo(sums, grad, x);
                store(partial + at, sums);
            }
            Pack<T, L> other;
            if (backward.args.sumGrad)
                other = packAt<L, T>(backward.args.sumGrad, backward.row + at);
            backward.write(grad, x, other, shrink, at);
        });
    }
};

/// Adds the sums of the block's rows in order and writes them. `stage` [kThreads · L].
template <class A, int L>
__device__ inline void writePartial(const A (&sums)[kHeld][L], A* stage, A* partial, std::int64_t packs)
{
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
        __syncthreads();
        store(stage + (threadIdx.y * blockDim.x + threadIdx.x) * L, sums[k]);
        __syncthreads();
        const std::int64_t pack = threadIdx.x + std::int64_t(k) * blockDim.x;
        if (threadIdx.y != 0 || pack >= packs)
            continue;
        A total[L] = {};
        for (unsigned y = 0; y < blockDim.y; ++y) {
            A value[L];
            load(static_cast<const A*>(stage) + (y * blockDim.x + threadIdx.x) * L, value);
#pragma unroll
            for (int l = 0; l < L; ++l)
                total[l] += value[l];
        }
        store(partial + pack * L, total);
    }
}

template <class T, class Y, int L>
__global__ void __launch_bounds__(kThreads, 2) normBackward(const __grid_constant__ BackwardArgs args)
{
    using A = Accumulator<T>;
    A* slots = sharedMemory<A>();
    A* partial = args.partial ? static_cast<A*>(args.partial) + blockIdx.x * args.stride : nullptr;
    A sums[kHeld][L] = {};
    const std::int64_t begin = std::int64_t(blockIdx.x) * blockDim.y;
    int half = 0;
    for (std::int64_t first = begin; first < args.tokens; first += std::int64_t(gridDim.x) * blockDim.y, half ^= 1) {
        const std::int64_t n = first + threadIdx.y;
        const std::int64_t packs = n < args.tokens ? args.width / L : 0;
        const std::int64_t row = n * args.width;
        Pack<T, L> x[kHeld];
        Pack<Y, L> grad[kHeld];
        Pack<T, L> other[kHeld];
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            const std::int64_t pack = threadIdx.x + std::int64_t(k) * blockDim.x;
            if (pack < packs) {
                x[k] = packAt<L, T>(args.x, row + pack * L);
                grad[k] = packAt<L, Y>(args.yGrad, row + pack * L);
                if (args.sumGrad)
                    other[k] = packAt<L, T>(args.sumGrad, row + pack * L);
            }
        }
        const Backward<T, Y, L> backward{args, row, packs ? static_cast<const A*>(args.rstd)[n] : A(0)};
        const Beyond<T, Y, L> beyond{backward, packs};
        A product = beyond.product();
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            const std::int64_t pack = threadIdx.x + std::int64_t(k) * blockDim.x;
            if (pack < packs)
                product += backward.product(grad[k], x[k], pack * L);
        }
        const A shrink = rowSum(product, slots, half) * backward.rstd * backward.rstd / A(args.width);
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            const std::int64_t pack = threadIdx.x + std::int64_t(k) * blockDim.x;
            if (pack < packs) {
                backward.addTo(sums[k], grad[k], x[k]);
                backward.write(grad[k], x[k], other[k], shrink, pack * L);
            }
        }
        beyond.write(shrink, partial, first == begin);
    }
    if (partial)
        writePartial(sums, slots + kSlots, partial, args.width / L);
}

/// Returns the block's dimensions: threads along x for a row of `packs` packs, and as many rows as fill the block.
dim3 blockFor(std::int64_t packs)
{
    unsigned threads = 32;
    while (threads < kThreads && threads * kHeld < packs)
        threads *= 2;
    return dim3(threads, kThreads / threads);
}

struct Plan {
    std::int64_t stride;
    std::int64_t blocks; ///< the maximum
    std::size_t accumulatorBytes;
};

Plan planOf(const RmsNormBackward& norm)
{
    return {norm.weightGrad ? (norm.width + 15) / 16 * 16 : 0, norm.tokens < kMaxBlocks ? norm.tokens : kMaxBlocks,
            norm.dataType == DataType::float64 ? std::size_t(8) : std::size_t(4)};
}

/// Calls body with the types of the data and of y, and with the number of elements in a pack.
template <class Body>
Status withForm(DataType type, bool bfloat16Output, bool packed, Body body)
{
    switch (type) {
    case DataType::float32:
        if (bfloat16Output)
            return packed ? body(float(), Bf16(), Constant<4>()) : body(float(), Bf16(), Constant<1>());
        return packed ? body(float(), float(), Constant<4>()) : body(float(), float(), Constant<1>());
    case DataType::bfloat16:
        return packed ? body(Bf16(), Bf16(), Constant<8>()) : body(Bf16(), Bf16(), Constant<1>());
    case DataType::float64:
        return body(double(), double(), Constant<1>());
    }
    return Status::badKind;
}

template <class... Pointers>
bool packable(DataType type, std::int64_t width, Pointers... pointers)
{
    return width % (type == DataType::bfloat16 ? 8 : 4) == 0 && (... && aligned(pointers));
}

} // namespace

Status rmsNormForward(const RmsNormForward& norm, void* stream)
{
    if (const Status status = validate(norm); status != Status::ok || norm.tokens == 0)
        return status;
    const bool packed = packable(norm.dataType, norm.width, norm.x, norm.residual, norm.weight,
                                 norm.residual ? norm.sum : nullptr, norm.y);
    countCall(norm.dataType, packed);
    const ForwardArgs args{norm.tokens, norm.width, norm.eps, norm.x,   norm.residual,
                           norm.weight, norm.sum,   norm.y,   norm.rstd};
    return withForm(norm.dataType, norm.bfloat16Output, packed, [&](auto data, auto output, auto lanes) {
        using T = decltype(data);
        constexpr int kLanesHere = decltype(lanes)::kValue;
        const dim3 block = blockFor(norm.width / kLanesHere);
        const dim3 grid(unsigned((norm.tokens + block.y - 1) / block.y));
        return launch(normForward<T, decltype(output), kLanesHere>, grid, block, kSlots * sizeof(Accumulator<T>),
                      stream, args);
    });
}

std::size_t rmsNormBackwardWorkspace(const RmsNormBackward& norm)
{
    const Plan plan = planOf(norm);
    return std::size_t(plan.blocks * plan.stride) * plan.accumulatorBytes;
}

Status rmsNormBackward(const RmsNormBackward& norm, void* stream)
{
    if (const Status status = validate(norm); status != Status::ok)
        return status;
    const Plan plan = planOf(norm);
    const std::size_t needed = cuda::rmsNormBackwardWorkspace(norm);
    if (needed > norm.workspaceBytes || (needed > 0 && !norm.workspace))
        return Status::workspaceTooSmall;
    if (norm.tokens == 0)
        return clear(norm.weightGrad, std::size_t(norm.width) * plan.accumulatorBytes, stream);
    const bool packed = packable(norm.dataType, norm.width, norm.yGrad, norm.x, norm.weight, norm.sumGrad, norm.xGrad);
    countCall(norm.dataType, packed);
    const BackwardArgs args{norm.tokens,  norm.width, norm.yGrad,
                            norm.x,       norm.rstd,  norm.weight,
                            norm.sumGrad, norm.xGrad, norm.weightGrad ? norm.workspace : nullptr,
                            plan.stride};
    return withForm(norm.dataType, norm.bfloat16Output, packed, [&](auto data, auto output, auto lanes) {
        using T = decltype(data);
        using A = Accumulator<T>;
        constexpr int kLanesHere = decltype(lanes)::kValue;
        const dim3 block = blockFor(norm.width / kLanesHere);
        const std::int64_t rows = (norm.tokens + block.y - 1) / block.y;
        const std::int64_t blocks = rows < plan.blocks ? rows : plan.blocks;
        const std::size_t shared = (kSlots + kThreads * kLanesHere) * sizeof(A);
        const Status status =
            launch(normBackward<T, decltype(output), kLanesHere>, dim3(unsigned(blocks)), block, shared, stream, args);
        return status == Status::ok && norm.weightGrad
                   ? addPartials<A>({norm.workspace, norm.weightGrad, norm.width, plan.stride, blocks}, stream)
                   : status;
    });
}

} // namespace residua::kernels::cuda
