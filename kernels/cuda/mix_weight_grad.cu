// SPDX-License-Identifier: GPL-3.0-or-later
// mixWeightGrad. The faster forms of kForms come first. The form here has no limit on the shape, the kinds or the
// alignment: float64, odd widths, and a relu inside per-feature weights.
//
// Each block has a range of tokens and processes it in tiles. The rows of a source in the tile are read twice: for
// their dot products with the output gradients (one warp per token), then for the per-feature sums (a few columns per
// thread). Each block adds to its own partial sums, which a second kernel adds in order, without atomics, so the bits
// are always the same.
#include "kernels/cuda/kernels.cuh"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_args.cuh"
#include "kernels/cuda/mix_weight_grad.cuh"
#include "kernels/cuda/mix_weight_grad_split.cuh"

#include <algorithm>
#include <iterator>

namespace residua::kernels::cuda {
namespace {

/// The forms for some of the shapes and kinds, in the order in which they are tried. The choice depends on the call's
/// arguments and the device's shared memory only.
constexpr const WeightGradForm* kForms[] = {&kTensorForm, &kRowForm};

constexpr int kMaxBlocks = 256;
constexpr int kMinBlocks = 64;
constexpr int kUnalignedBlocks = 32;
/// The maximum size of the partial sums, unless those of kMinBlocks blocks are larger. Fewer blocks would leave most of
/// the device idle; more bytes would cost memory, and traffic beyond the second-level cache.
constexpr std::int64_t kMaxPartialBytes = 128 << 20;
constexpr int kTileTokens = 32;

struct WeightGradArgs {
    StackArgs stack;
    const void* outGrad[kMaxOutputs];
    const void* gateLogits;
    const void* rstd;
    void* tokenGrad;
    void* partial; ///< [blocks, stride]: weightElements, then vectorElements
    std::int64_t weightElements;
    std::int64_t vectorElements;
    std::int64_t stride;
    std::int64_t blockTokens;
    bool needDots;
};

template <class T, int O, int L>
struct Worker {
    using A = Accumulator<T>;
    const WeightGradArgs& args;
    const StackArgs& stack;
    A* products;        ///< [kTileTokens, kMaxOutputs]: the terms of a scalar weight's gradient, in shared memory
    A* gateGrads;       ///< [kTileTokens, kMaxOutputs]: the factors of x in gateVectorGrad, in shared memory
    std::int64_t first; ///< the first token of the tile
    int count;          ///< the number of tokens in the tile
    A* weightPartial;
    A* vectorPartial;

    __device__ const T* grad(int o, int slot) const
    {
        return static_cast<const T*>(args.outGrad[o]) + (first + slot) * stack.width;
    }

    __device__ const T* row(std::int32_t s, int slot) const
    {
        return static_cast<const T*>(stack.source[s]) + (first + slot) * stack.width;
    }

    __device__ A logit(int o, std::int32_t s, int slot) const
    {
        return static_cast<const A*>(args.gateLogits)[rowAt(stack, o, s, stack.tokens) + first + slot];
    }

    __device__ const A* featureWeights(int o, std::int32_t s) const
    {
        return static_cast<const A*>(stack.weights) + rowAt(stack, o, s, stack.width);
    }

    __device__ bool perFeature() const { return stack.weightKind == WeightKind::perFeature; }
    __device__ bool maskedFeatures() const { return perFeature() && stack.gateKind == GateKind::reluInside; }

    /// For one warp: computes <g_o, x> of one token, masked by feature for an inside gate with per-feature weights.
    __device__ void dots(std::int32_t s, int slot, A (&sums)[O]) const
    {
        for (std::int64_t column = threadIdx.x % 32 * L; column < stack.width; column += 32 * L) {
            A x[L];
            load(row(s, slot) + column, x);
#pragma unroll
            for (int o = 0; o < O; ++o) {
                A g[L];
                load(grad(o, slot) + column, g);
                if (maskedFeatures())
                    maskFeatures(o, s, slot, column, g);
#pragma unroll
                for (int l = 0; l < L; ++l)
                    sums[o] += g[l] * x[l];
            }
        }
    }

    __device__ void maskFeatures(int o, std::int32_t s, int slot, std::int64_t column, A (&values)[L]) const
    {
        A weight[L];
        load(featureWeights(o, s) + column, weight);
        const A z = logit(o, s, slot);
#pragma unroll
        for (int l = 0; l < L; ++l)
            values[l] *= reluGrad(weight[l] + z, stack.reluGradAtZero);
    }

    __device__ void tokenProducts(std::int32_t s, int slot) const
    {
        A sums[O] = {};
        dots(s, slot, sums);
        const std::int64_t n = first + slot;
#pragma unroll
        for (int o = 0; o < O; ++o) {
            const A product = warpSum(sums[o]);
            if (threadIdx.x % 32 != 0)
                continue;
            A passed = 1;
            if (isRelu(stack.gateKind) && !maskedFeatures()) {
                const A inside = stack.gateKind == GateKind::reluInside ? scalarWeight<A>(stack, o, s) : A(0);
                passed = reluGrad(inside + logit(o, s, slot), stack.reluGradAtZero);
            }
            const A gate = passed * product;
            if (args.tokenGrad)
                static_cast<A*>(args.tokenGrad)[rowAt(stack, o, s, stack.tokens) + n] = gate;
            const bool normalised = stack.gateInput == GateInput::normalised;
            const A rstd = normalised ? static_cast<const A*>(args.rstd)[s * stack.tokens + n] : A(1);
            products[slot * kMaxOutputs + o] = stack.gateKind == GateKind::reluInside ? gate : product;
            gateGrads[slot * kMaxOutputs + o] = gate * rstd;
        }
    }

    __device__ void addColumns(std::int32_t s, std::int64_t column) const
    {
        A weightSums[O][L] = {};
        A vectorSums[O][L] = {};
        for (int slot = 0; slot < count; ++slot) {
            A x[L];
            load(row(s, slot) + column, x);
#pragma unroll
            for (int o = 0; o < O; ++o) {
                A g[L];
                if (args.weightElements && perFeature()) {
                    load(grad(o, slot) + column, g);
                    if (maskedFeatures())
                        maskFeatures(o, s, slot, column, g);
                }
                const A q = args.vectorElements ? gateGrads[slot * kMaxOutputs + o] : A(0);
#pragma unroll
                for (int l = 0; l < L; ++l) {
                    if (args.weightElements && perFeature())
                        weightSums[o][l] += g[l] * x[l];
                    vectorSums[o][l] += q * x[l];
                }
            }
        }
#pragma unroll
        for (int o = 0; o < O; ++o) {
            if (args.weightElements && perFeature())
                add(weightPartial + rowAt(stack, o, s, stack.width) + column, weightSums[o]);
            if (args.vectorElements)
                add(vectorPartial + o * stack.width + column, vectorSums[o]);
        }
    }

    __device__ static void add(A* to, const A (&values)[L])
    {
        A sum[L];
        load(static_cast<const A*>(to), sum);
#pragma unroll
        for (int l = 0; l < L; ++l)
            sum[l] += values[l];
        store(to, sum);
    }

    /// Processes one source in the tile. Must be called by every thread of the block.
    __device__ void source(std::int32_t s) const
    {
        for (int slot = threadIdx.x / 32; slot < count && args.needDots; slot += kWarps)
            tokenProducts(s, slot);
        __syncthreads();
        if (args.vectorElements || (args.weightElements && perFeature()))
            for (std::int64_t column = std::int64_t(threadIdx.x) * L; column < stack.width; column += kThreads * L)
                addColumns(s, column);
        if (args.weightElements && !perFeature() && threadIdx.x < O) {
            A sum = 0;
            for (int slot = 0; slot < count; ++slot)
                sum += products[slot * kMaxOutputs + threadIdx.x];
            weightPartial[rowAt(stack, int(threadIdx.x), s, 1)] += sum;
        }
        __syncthreads();
    }

    __device__ void absent(std::int32_t s) const
    {
        for (int slot = threadIdx.x; slot < count && args.tokenGrad; slot += kThreads)
            for (int o = 0; o < O; ++o)
                static_cast<A*>(args.tokenGrad)[rowAt(stack, o, s, stack.tokens) + first + slot] = 0;
    }
};

template <class T, int O, int L>
__global__ void weightGradTiles(const __grid_constant__ WeightGradArgs args)
{
    using A = Accumulator<T>;
    const StackArgs& stack = args.stack;
    A* shared = sharedMemory<A>();
    A* partial = static_cast<A*>(args.partial) + blockIdx.x * args.stride;
    for (std::int64_t i = threadIdx.x; i < args.stride; i += kThreads)
        partial[i] = 0;
    __syncthreads();
    Worker<T, O, L> worker{args, stack, shared,  shared + kTileTokens * kMaxOutputs,
                           0,    0,     partial, partial + args.weightElements};
    const std::int64_t begin = blockIdx.x * args.blockTokens;
    const std::int64_t end = begin + args.blockTokens < stack.tokens ? begin + args.blockTokens : stack.tokens;
    for (worker.first = begin; worker.first < end; worker.first += kTileTokens) {
        worker.count = int(end - worker.first < kTileTokens ? end - worker.first : kTileTokens);
        for (std::int32_t s = 0; s < stack.sources; ++s) {
            if (stack.source[s])
                worker.source(s);
            else
                worker.absent(s);
        }
    }
}

struct Plan {
    std::int64_t weightElements;
    std::int64_t vectorElements;
    std::int64_t stride;
    std::int64_t blockTokens;
    std::int64_t blocks;
    std::size_t accumulatorBytes;
};

/// Returns the number of elements of weightGrad, or 0 if it is not wanted.
std::int64_t weightCount(const MixWeightGrad& mix)
{
    return mix.weightGrad ? weightElements(mix.stack) : 0;
}

/// True if a form takes the call's shape and kinds, so that only unaligned tensors need the form here.
bool hasForm(const MixWeightGrad& mix)
{
    return std::any_of(std::begin(kForms), std::end(kForms), [&](const auto* form) { return form->takes(mix); });
}

Plan planOf(const MixWeightGrad& mix)
{
    const MixStack& stack = mix.stack;
    Plan plan{};
    plan.vectorElements = mix.gateVectorGrad ? stack.outputs * stack.width : 0;
    // Aligns the start of the vectors' part for packs.
    plan.weightElements = (weightCount(mix) + 3) / 4 * 4;
    plan.stride = (plan.weightElements + plan.vectorElements + 3) / 4 * 4;
    plan.accumulatorBytes = stack.dataType == DataType::float64 ? 8 : 4;
    const std::int64_t blockBytes = plan.stride * std::int64_t(plan.accumulatorBytes);
    // If only unaligned tensors need this form, few blocks keep the workspace small.
    const std::int64_t most = hasForm(mix) ? kUnalignedBlocks
                              : blockBytes > 0
                                  ? std::clamp<std::int64_t>(kMaxPartialBytes / blockBytes, kMinBlocks, kMaxBlocks)
                                  : kMaxBlocks;
    plan.blockTokens = (stack.tokens + most - 1) / most;
    plan.blocks = plan.blockTokens ? (stack.tokens + plan.blockTokens - 1) / plan.blockTokens : 0;
    return plan;
}

template <class A>
Status sumAll(const MixWeightGrad& mix, const Plan& plan, void* stream)
{
    const A* partial = static_cast<const A*>(mix.workspace);
    Status status = Status::ok;
    if (mix.weightGrad)
        status = addPartials<A>({partial, mix.weightGrad, weightCount(mix), plan.stride, plan.blocks}, stream);
    if (status == Status::ok && mix.gateVectorGrad)
        status = addPartials<A>(
            {partial + plan.weightElements, mix.gateVectorGrad, plan.vectorElements, plan.stride, plan.blocks}, stream);
    return status;
}

template <class T, int O>
Status weightGrad(const WeightGradArgs& args, const Plan& plan, bool packed, void* stream)
{
    const std::size_t shared = 2 * kTileTokens * kMaxOutputs * sizeof(Accumulator<T>);
    const dim3 grid(unsigned(plan.blocks));
    // float64 is for verification, not speed, so it has only the unpacked form.
    if constexpr (sizeof(T) < 8)
        if (packed)
            return launch(weightGradTiles<T, O, kLanes>, grid, dim3(kThreads), shared, stream, args);
    return launch(weightGradTiles<T, O, 1>, grid, dim3(kThreads), shared, stream, args);
}

} // namespace

std::size_t mixWeightGradWorkspace(const MixWeightGrad& mix)
{
    const Plan plan = planOf(mix);
    std::size_t bytes = std::size_t(plan.blocks * plan.stride) * plan.accumulatorBytes;
    for (const WeightGradForm* form : kForms)
        bytes = form->takes(mix) ? std::max(bytes, form->workspace(mix)) : bytes;
    return bytes;
}

Status mixWeightGrad(const MixWeightGrad& mix, void* stream)
{
    if (const Status status = validate(mix); status != Status::ok)
        return status;
    const Plan plan = planOf(mix);
    if (mix.stack.tokens == 0) {
        const Status status = clear(mix.weightGrad, std::size_t(weightCount(mix)) * plan.accumulatorBytes, stream);
        return status == Status::ok
                   ? clear(mix.gateVectorGrad, std::size_t(plan.vectorElements) * plan.accumulatorBytes, stream)
                   : status;
    }
    const std::size_t needed = cuda::mixWeightGradWorkspace(mix);
    if (needed > mix.workspaceBytes || (needed > 0 && !mix.workspace))
        return Status::workspaceTooSmall;
    for (const WeightGradForm* form : kForms)
        if (form->takes(mix) && form->fits(mix)) {
            countCall(mix.stack.dataType, true);
            return form->run(mix, stream);
        }
    WeightGradArgs args{
        argsOf(mix.stack),   {},          mix.gateLogits,   mix.rstd, mix.tokenGrad, mix.workspace, plan.weightElements,
        plan.vectorElements, plan.stride, plan.blockTokens, false};
    args.needDots =
        (mix.weightGrad && mix.stack.weightKind == WeightKind::scalar) || mix.tokenGrad || mix.gateVectorGrad;
    bool packed = packable(mix.stack);
    for (int o = 0; o < mix.stack.outputs; ++o) {
        args.outGrad[o] = mix.outGrad[o];
        packed = packed && aligned(mix.outGrad[o]);
    }
    countCall(mix.stack.dataType, packed);
    const Status status = withType(mix.stack.dataType, [&](auto type) {
        return withOutputs(mix.stack.outputs, [&](auto outputs) {
            return weightGrad<decltype(type), decltype(outputs)::kValue>(args, plan, packed, stream);
        });
    });
    if (status != Status::ok)
        return status;
    return mix.stack.dataType == DataType::float64 ? sumAll<double>(mix, plan, stream)
                                                   : sumAll<float>(mix, plan, stream);
}

} // namespace residua::kernels::cuda
