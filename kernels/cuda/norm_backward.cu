// SPDX-License-Identifier: GPL-3.0-or-later
// Backward of RMSNorm and LayerNorm: each block processes rows at a fixed distance, and each thread adds its columns'
// gradients of the weight and the bias in registers. Every block then writes one row of partial sums, and a second
// kernel adds those in order, without atomics.
#include "kernels/cuda/norm_rows.cuh"
#include "kernels/cuda/partial_sums.cuh"

namespace residua::kernels::cuda {
namespace {

constexpr int kMaxBlocks = 264; ///< two for each multiprocessor of an H100

struct BackwardArgs {
    std::int64_t tokens;
    std::int64_t width;
    const void* yGrad;
    const void* x;
    const void* rstd;
    const void* mean;
    const void* weight;
    const void* sumGrad;
    void* xGrad;
    void* residualGrad;
    void* partial;           ///< [blocks, stride]: of the weight, then of a layer norm's bias; or null
    std::int64_t biasOffset; ///< in a block's partial sums
    std::int64_t stride;
};

/// Two sums over a row.
template <class A>
struct RowSums {
    A gradient; ///< of dy·weight, of a layer norm
    A product;  ///< of dy·weight·(x − mean)
};

template <class T, class Y, int L, bool centred>
struct Backward {
    using A = Accumulator<T>;
    const BackwardArgs& args;
    std::int64_t row;
    A rstd;
    A mean; ///< 0 unless centred

    __device__ void add(RowSums<A>& sums, const Pack<Y, L>& grad, const Pack<T, L>& x, std::int64_t at) const
    {
        A weight[L];
        loadOr(A(1), args.weight, at, weight);
#pragma unroll
        for (int l = 0; l < L; ++l) {
            const A weighted = widen(grad.element[l]) * weight[l];
            sums.product += weighted * (widen(x.element[l]) - mean);
            if (centred)
                sums.gradient += weighted;
        }
    }

    /// Writes dx, from mean(dy·weight) and mean(dy·weight·(x − mean))·rstd².
    __device__ void write(const Pack<Y, L>& grad, const Pack<T, L>& x, const Pack<T, L>& other, const RowSums<A>& means,
                          std::int64_t at) const
    {
        A value[L];
        loadOr(A(1), args.weight, at, value);
#pragma unroll
        for (int l = 0; l < L; ++l) {
            value[l] = widen(grad.element[l]) * value[l] - (widen(x.element[l]) - mean) * means.product;
            value[l] = (centred ? value[l] - means.gradient : value[l]) * rstd;
            if (args.sumGrad)
                value[l] += widen(other.element[l]);
        }
        store(static_cast<T*>(args.xGrad) + row + at, value);
        if (args.residualGrad)
            store(static_cast<Y*>(args.residualGrad) + row + at, value);
    }

    __device__ void addTo(A (&weight)[L], A (&bias)[L], const Pack<Y, L>& grad, const Pack<T, L>& x) const
    {
#pragma unroll
        for (int l = 0; l < L; ++l) {
            weight[l] += widen(grad.element[l]) * (widen(x.element[l]) - mean) * rstd;
            if (centred)
                bias[l] += widen(grad.element[l]);
        }
    }
};

/// The part of a row beyond the registers. Used only by blocks with one row, so each column belongs to one thread.
template <class T, class Y, int L, bool centred>
struct Beyond {
    using A = Accumulator<T>;
    const Backward<T, Y, L, centred>& backward;
    std::int64_t packs;

    template <class Body>
    __device__ void each(Body body) const
    {
        for (std::int64_t pack = threadIdx.x + std::int64_t(kHeld) * blockDim.x; pack < packs; pack += blockDim.x)
            body(pack * L, packAt<L, Y>(backward.args.yGrad, backward.row + pack * L),
                 packAt<L, T>(backward.args.x, backward.row + pack * L));
    }

    __device__ void add(RowSums<A>& sums) const
    {
        each([&](std::int64_t at, const Pack<Y, L>& grad, const Pack<T, L>& x) { backward.add(sums, grad, x, at); });
    }

    __device__ void write(const RowSums<A>& means, A* partial, bool first) const
    {
        each([&](std::int64_t at, const Pack<Y, L>& grad, const Pack<T, L>& x) {
            if (partial) {
                A* const bias = partial + backward.args.biasOffset;
                A weightSums[L] = {};
                A biasSums[L] = {};
                if (!first) {
                    load(static_cast<const A*>(partial) + at, weightSums);
                    if (centred)
                        load(static_cast<const A*>(bias) + at, biasSums);
                }
                backward.addTo(weightSums, biasSums, grad, x);
                store(partial + at, weightSums);
                if (centred)
                    store(bias + at, biasSums);
            }
            Pack<T, L> other;
            if (backward.args.sumGrad)
                other = packAt<L, T>(backward.args.sumGrad, backward.row + at);
            backward.write(grad, x, other, means, at);
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

// The sums of a layer norm in packs of 8 need more registers than two blocks on a multiprocessor have.
template <class T, class Y, int L, bool centred>
__global__ void __launch_bounds__(kThreads, centred&& L > 4 ? 1 : 2)
    backwardNorm(const __grid_constant__ BackwardArgs args)
{
    using A = Accumulator<T>;
    A* slots = sharedMemory<A>();
    A* partial = args.partial ? static_cast<A*>(args.partial) + blockIdx.x * args.stride : nullptr;
    A weightSums[kHeld][L] = {};
    A biasSums[kHeld][L] = {};
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
        const Backward<T, Y, L, centred> backward{args, row, packs ? static_cast<const A*>(args.rstd)[n] : A(0),
                                                  centred && packs ? static_cast<const A*>(args.mean)[n] : A(0)};
        const Beyond<T, Y, L, centred> beyond{backward, packs};
        RowSums<A> means{};
        beyond.add(means);
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            const std::int64_t pack = threadIdx.x + std::int64_t(k) * blockDim.x;
            if (pack < packs)
                backward.add(means, grad[k], x[k], pack * L);
        }
        means.product = rowSum(means.product, slots, half) * backward.rstd * backward.rstd / A(args.width);
        if (centred)
            means.gradient = rowSum(means.gradient, slots, half ^= 1) / A(args.width);
#pragma unroll
        for (int k = 0; k < kHeld; ++k) {
            const std::int64_t pack = threadIdx.x + std::int64_t(k) * blockDim.x;
            if (pack < packs) {
                backward.addTo(weightSums[k], biasSums[k], grad[k], x[k]);
                backward.write(grad[k], x[k], other[k], means, pack * L);
            }
        }
        beyond.write(means, partial, first == begin);
    }
    if (partial)
        writePartial(weightSums, slots + kSlots, partial, args.width / L);
    if (centred && partial)
        writePartial(biasSums, slots + kSlots, partial + args.biasOffset, args.width / L);
}

struct Plan {
    std::int64_t biasOffset;
    std::int64_t stride;
    std::int64_t blocks; ///< the maximum
    std::size_t accumulatorBytes;
};

Plan planOf(const NormBackward& norm)
{
    const bool isLayer = norm.kind == NormKind::layer;
    const std::int64_t vector = (norm.width + 15) / 16 * 16;
    return {vector, norm.weightGrad || norm.biasGrad ? vector * (isLayer ? 2 : 1) : 0,
            norm.tokens < kMaxBlocks ? norm.tokens : kMaxBlocks,
            norm.dataType == DataType::float64 ? std::size_t(8) : std::size_t(4)};
}

} // namespace

std::size_t normBackwardWorkspace(const NormBackward& norm)
{
    const Plan plan = planOf(norm);
    return std::size_t(plan.blocks * plan.stride) * plan.accumulatorBytes;
}

Status normBackward(const NormBackward& norm, void* stream)
{
    if (const Status status = validate(norm); status != Status::ok)
        return status;
    const Plan plan = planOf(norm);
    const std::size_t needed = cuda::normBackwardWorkspace(norm);
    if (needed > norm.workspaceBytes || (needed > 0 && !norm.workspace))
        return Status::workspaceTooSmall;
    if (norm.tokens == 0) {
        const std::size_t bytes = std::size_t(norm.width) * plan.accumulatorBytes;
        const Status status = clear(norm.weightGrad, bytes, stream);
        return status == Status::ok ? clear(norm.biasGrad, bytes, stream) : status;
    }
    const bool packed = packable(norm.dataType, norm.width, norm.yGrad, norm.x, norm.weight, norm.sumGrad, norm.xGrad,
                                 norm.residualGrad);
    countCall(norm.dataType, packed);
    const BackwardArgs args{norm.tokens,
                            norm.width,
                            norm.yGrad,
                            norm.x,
                            norm.rstd,
                            norm.mean,
                            norm.weight,
                            norm.sumGrad,
                            norm.xGrad,
                            norm.residualGrad,
                            plan.stride ? norm.workspace : nullptr,
                            plan.biasOffset,
                            plan.stride};
    return withForm(norm, packed, [&](auto data, auto output, auto lanes, auto centred) {
        using T = decltype(data);
        using A = Accumulator<T>;
        constexpr int kLanesHere = decltype(lanes)::kValue;
        const dim3 block = blockFor(norm.width / kLanesHere);
        const std::int64_t rows = (norm.tokens + block.y - 1) / block.y;
        const std::int64_t blocks = rows < plan.blocks ? rows : plan.blocks;
        const std::size_t shared = (kSlots + kThreads * kLanesHere) * sizeof(A);
        Status status = launch(backwardNorm<T, decltype(output), kLanesHere, decltype(centred)::kValue != 0>,
                               dim3(unsigned(blocks)), block, shared, stream, args);
        if (status == Status::ok && norm.weightGrad)
            status = addPartials<A>({norm.workspace, norm.weightGrad, norm.width, plan.stride, blocks}, stream);
        if (status == Status::ok && norm.biasGrad)
            status = addPartials<A>({static_cast<const A*>(norm.workspace) + plan.biasOffset, norm.biasGrad, norm.width,
                                     plan.stride, blocks},
                                    stream);
        return status;
    });
}

} // namespace residua::kernels::cuda
