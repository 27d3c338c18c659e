// SPDX-License-Identifier: GPL-3.0-or-later
// mixForward. Without a relu gate, each thread has a few columns of a few tokens and loops over the sources, so each
// element is read and written once. A relu gate needs a row's dot product before its weight is known; mix_gated.cu has
// the common cases. The form here takes every width, type and alignment: each block has two tokens, computes the
// logits of all sources, then reads the rows again from the cache.
#include "kernels/cuda/kernels.cuh"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_forward.cuh"

namespace residua::kernels::cuda {
namespace {

struct ForwardArgs {
    StackArgs stack;
    const void* base[kMaxOutputs];
    void* out[kMaxOutputs];
    void* gateLogits;
    void* rstd;
    bool isEmpty; ///< no source is present
};

/// Computes sums[o] += weight·x for one source.
template <int O, int L, class A>
__device__ inline void addSource(const StackArgs& stack, std::int32_t s, std::int64_t column, const A* coefficients,
                                 const A (&x)[L], bool feature, A (&sums)[O][L])
{
#pragma unroll
    for (int o = 0; o < O; ++o) {
        A weight[L];
        if (feature)
            load(static_cast<const A*>(stack.weights) + rowAt(stack, o, s, stack.width) + column, weight);
#pragma unroll
        for (int l = 0; l < L; ++l) {
            A total = coefficients[o];
            if (feature) {
                total += weight[l];
                if (stack.gateKind == GateKind::reluInside)
                    total = relu(total);
            }
            sums[o][l] += total * x[l];
        }
    }
}

template <class T, int O, int L>
__device__ inline void start(const ForwardArgs& args, std::int64_t at, Accumulator<T> (&sums)[O][L])
{
    using A = Accumulator<T>;
#pragma unroll
    for (int o = 0; o < O; ++o) {
        if (args.base[o]) {
            load(static_cast<const T*>(args.base[o]) + at, sums[o]);
        } else {
            // A sum that starts with -0 keeps the sign of a single -0.
            for (int l = 0; l < L; ++l)
                sums[o][l] = args.isEmpty ? A(0) : A(-0.0);
        }
    }
}

/// The tokens of a thread of mixRows().
template <int O>
inline constexpr int kRowTokens = O == 1 ? 4 : 2;

/// Without a relu gate; with one number per token if `token`. Grid: token groups × column groups; block: columns ×
/// tokens.
template <class T, int O, int L, bool feature, bool token>
__global__ void mixRows(const __grid_constant__ ForwardArgs args)
{
    using A = Accumulator<T>;
    constexpr int kTokens = kRowTokens<O>;
    const StackArgs& stack = args.stack;
    const std::int64_t column = (std::int64_t(blockIdx.y) * blockDim.x + threadIdx.x) * L;
    const std::int64_t first = std::int64_t(blockIdx.x) * blockDim.y * kTokens + threadIdx.y;
    if (column >= stack.width || first >= stack.tokens)
        return;
    A sums[kTokens][O][L];
    std::int64_t at[kTokens]; // of the first column
    const A* gamma[kTokens];
#pragma unroll
    for (int r = 0; r < kTokens; ++r) {
        // Beyond the end, processes the last token again without storing it.
        const std::int64_t n = first + r * blockDim.y < stack.tokens ? first + r * blockDim.y : stack.tokens - 1;
        at[r] = n * stack.width + column;
        gamma[r] = static_cast<const A*>(stack.tokenWeights) + n;
        start<T>(args, at[r], sums[r]);
    }
    const std::int64_t perOutput = stack.sources * stack.tokens;
    for (std::int32_t s = 0; s < stack.sources; ++s) {
        if (const T* source = static_cast<const T*>(stack.source[s])) {
            A x[kTokens][L];
            A coefficients[kTokens][O];
#pragma unroll
            for (int r = 0; r < kTokens; ++r) {
                load(source + at[r], x[r]);
#pragma unroll
                for (int o = 0; o < O; ++o)
                    coefficients[r][o] = token ? gamma[r][o * perOutput] : A(0);
            }
#pragma unroll
            for (int o = 0; o < O; ++o) {
                const A weight = scalarWeight<A>(stack, o, s);
#pragma unroll
                for (int r = 0; r < kTokens; ++r)
                    coefficients[r][o] += weight;
            }
#pragma unroll
            for (int r = 0; r < kTokens; ++r)
                addSource(stack, s, column, coefficients[r], x[r], feature, sums[r]);
        }
#pragma unroll
        for (int r = 0; r < kTokens && token; ++r)
            gamma[r] += stack.tokens;
    }
#pragma unroll
    for (int r = 0; r < kTokens; ++r)
        for (int o = 0; o < O && first + r * blockDim.y < stack.tokens; ++o)
            store(static_cast<T*>(args.out[o]) + at[r], sums[r][o]);
}

constexpr int kGateTokens = 2;

/// For one warp: computes the logits of one row.
template <class T, int O, int L>
__device__ inline void gateRow(const ForwardArgs& args, std::int32_t s, std::int64_t n, Accumulator<T>* coefficients)
{
    using A = Accumulator<T>;
    const StackArgs& stack = args.stack;
    const T* x = static_cast<const T*>(stack.source[s]);
    const int lane = threadIdx.x % 32;
    A sums[O] = {};
    A squares = 0;
    for (std::int64_t column = lane * L; x && column < stack.width; column += 32 * L) {
        A value[L];
        load(x + n * stack.width + column, value);
#pragma unroll
        for (int l = 0; l < L; ++l)
            squares += value[l] * value[l];
#pragma unroll
        for (int o = 0; o < O; ++o) {
            A u[L];
            load(static_cast<const A*>(stack.gateVectors) + o * stack.width + column, u);
#pragma unroll
            for (int l = 0; l < L; ++l)
                sums[o] += u[l] * value[l];
        }
    }
    A rstd = 1;
    if (stack.gateInput == GateInput::normalised) {
        rstd = x ? A(1) / sqrt(warpSum(squares) / A(stack.width) + A(stack.eps)) : A(0);
        if (lane == 0)
            static_cast<A*>(args.rstd)[s * stack.tokens + n] = rstd;
    }
#pragma unroll
    for (int o = 0; o < O; ++o) {
        const A z = warpSum(sums[o]) * rstd;
        if (lane != 0)
            continue;
        static_cast<A*>(args.gateLogits)[rowAt(stack, o, s, stack.tokens) + n] = z;
        coefficients[o] = tokenCoefficient(stack.gateKind, stack.weightKind == WeightKind::perFeature,
                                           scalarWeight<A>(stack, o, s), z);
    }
}

/// With a relu gate. Each block has kGateTokens tokens. Shared memory: coefficients [tokens, t, O].
template <class T, int O, int L>
__global__ void mixGated(const __grid_constant__ ForwardArgs args)
{
    using A = Accumulator<T>;
    const StackArgs& stack = args.stack;
    const bool feature = stack.weightKind == WeightKind::perFeature;
    A* coefficients = sharedMemory<A>();
    const std::int64_t first = std::int64_t(blockIdx.x) * kGateTokens;
    for (int row = threadIdx.x / 32; row < kGateTokens * stack.sources; row += kWarps) {
        const std::int64_t n = first + row / stack.sources;
        if (n < stack.tokens)
            gateRow<T, O, L>(args, row % stack.sources, n, coefficients + row * O);
    }
    __syncthreads();
    for (std::int64_t column = std::int64_t(threadIdx.x) * L; column < stack.width; column += kThreads * L) {
        A sums[kGateTokens][O][L];
#pragma unroll
        for (int g = 0; g < kGateTokens; ++g)
            if (first + g < stack.tokens)
                start<T>(args, (first + g) * stack.width + column, sums[g]);
        for (std::int32_t s = 0; s < stack.sources; ++s) {
            const T* source = static_cast<const T*>(stack.source[s]);
            if (!source)
                continue;
#pragma unroll
            for (int g = 0; g < kGateTokens; ++g) {
                if (first + g >= stack.tokens)
                    continue;
                const std::int64_t row = std::int64_t(g) * stack.sources + s;
                A x[L];
                load(source + (first + g) * stack.width + column, x);
                addSource(stack, s, column, coefficients + row * O, x, feature, sums[g]);
            }
        }
#pragma unroll
        for (int g = 0; g < kGateTokens; ++g)
            for (int o = 0; o < O && first + g < stack.tokens; ++o)
                store(static_cast<T*>(args.out[o]) + (first + g) * stack.width + column, sums[g][o]);
    }
}

template <class T, int O, int L>
Status launchRows(const ForwardArgs& args, void* stream)
{
    const StackArgs& stack = args.stack;
    const std::int64_t packs = (stack.width + L - 1) / L;
    const unsigned along = threadsAlong(packs);
    const dim3 block(along, kThreads / along);
    const std::int64_t tokens = std::int64_t(block.y) * kRowTokens<O>;
    const dim3 grid(unsigned((stack.tokens + tokens - 1) / tokens), unsigned((packs + along - 1) / along));
    const bool token = stack.gateKind == GateKind::token;
    if (stack.weightKind == WeightKind::perFeature)
        return token ? launch(mixRows<T, O, L, true, true>, grid, block, 0, stream, args)
                     : launch(mixRows<T, O, L, true, false>, grid, block, 0, stream, args);
    return token ? launch(mixRows<T, O, L, false, true>, grid, block, 0, stream, args)
                 : launch(mixRows<T, O, L, false, false>, grid, block, 0, stream, args);
}

template <class T, int O, int L>
Status launchGated(const ForwardArgs& args, void* stream)
{
    const std::size_t coefficients = std::size_t(kGateTokens) * args.stack.sources * O * sizeof(Accumulator<T>);
    const dim3 grid(unsigned((args.stack.tokens + kGateTokens - 1) / kGateTokens));
    return launch(mixGated<T, O, L>, grid, dim3(kThreads), coefficients, stream, args);
}

template <class T, int O>
Status forward(const ForwardArgs& args, bool packed, void* stream)
{
    const bool gated = isRelu(args.stack.gateKind);
    // float64 is for verification, not speed, so it has only the unpacked form.
    if constexpr (sizeof(T) < 8)
        if (packed) {
            // More columns of a thread share its coefficients.
            constexpr int kWide = sizeof(T) == 2 || O > 1 ? 8 : kLanes;
            if (!gated && args.stack.width % kWide == 0)
                return launchRows<T, O, kWide>(args, stream);
            return gated ? launchGated<T, O, kLanes>(args, stream) : launchRows<T, O, kLanes>(args, stream);
        }
    return gated ? launchGated<T, O, 1>(args, stream) : launchRows<T, O, 1>(args, stream);
}

} // namespace

Status mixForward(const MixForward& mix, void* stream)
{
    if (const Status status = validate(mix); status != Status::ok || mix.stack.tokens == 0)
        return status;
    ForwardArgs args{argsOf(mix.stack), {}, {}, mix.gateLogits, mix.rstd, true};
    for (std::int32_t s = 0; s < mix.stack.sources; ++s)
        args.isEmpty = args.isEmpty && !mix.stack.source[s];
    bool packed = packable(mix.stack);
    for (int o = 0; o < mix.stack.outputs; ++o) {
        args.base[o] = mix.base[o];
        args.out[o] = mix.out[o];
        packed = packed && aligned(mix.base[o]) && aligned(mix.out[o]);
    }
    countCall(mix.stack.dataType, packed);
    if (packed && hasGatedRows(mix.stack))
        return gatedRows(mix, stream);
    return withType(mix.stack.dataType, [&](auto type) {
        return withOutputs(mix.stack.outputs, [&](auto outputs) {
            return forward<decltype(type), decltype(outputs)::kValue>(args, packed, stream);
        });
    });
}

} // namespace residua::kernels::cuda
