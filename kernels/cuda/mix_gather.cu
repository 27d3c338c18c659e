// SPDX-License-Identifier: GPL-3.0-or-later
// mixGather: each thread has a few columns of a few tokens and loops over the readers; every gradient is read once.
#include "kernels/cuda/kernels.cuh"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_args.cuh"

namespace residua::kernels::cuda {
namespace {

constexpr int kTokens = 4;

/// Capacity is a template parameter because parameters are copied at every launch, and most sources have few readers.
template <int Capacity>
struct GatherArgs {
    std::int64_t tokens;
    std::int64_t width;
    std::int32_t readers;
    bool normalised;
    const void* own;
    const void* source;
    const void* rstd;
    void* sourceGrad;
    MixReader reader[Capacity];
};
// The limit on the size of kernel parameters is 32,764 bytes.
static_assert(sizeof(GatherArgs<kMaxReaders>) <= 32764);

/// Adds weight·g + q·u of one reader for one token; returns q·z of a normalised gate.
template <class T, int L>
__device__ inline Accumulator<T> addReader(const MixReader& reader, std::int64_t n, std::int64_t width,
                                           std::int64_t column, Accumulator<T> rstd, Accumulator<T> (&sums)[L])
{
    using A = Accumulator<T>;
    const bool feature = reader.weightKind == WeightKind::perFeature;
    const A a = reader.weightKind == WeightKind::scalar ? *static_cast<const A*>(reader.weight) : A(0);
    const A token = reader.gateKind == GateKind::none ? A(0) : static_cast<const A*>(reader.token)[n];
    const A coefficient = tokenCoefficient(reader.gateKind, feature, a, token);
    A grad[L];
    load(static_cast<const T*>(reader.outGrad) + n * width + column, grad);
    A weight[L];
    if (feature)
        load(static_cast<const A*>(reader.weight) + column, weight);
#pragma unroll
    for (int l = 0; l < L; ++l) {
        A total = feature ? weight[l] + coefficient : coefficient;
        if (feature && reader.gateKind == GateKind::reluInside)
            total = relu(total);
        sums[l] += total * grad[l];
    }
    if (!isRelu(reader.gateKind))
        return 0;
    const bool normalised = reader.gateInput == GateInput::normalised;
    const A gateGrad = static_cast<const A*>(reader.gateGrad)[n];
    const A scale = normalised ? gateGrad * rstd : gateGrad;
    A u[L];
    load(static_cast<const A*>(reader.gateVector) + column, u);
#pragma unroll
    for (int l = 0; l < L; ++l)
        sums[l] += scale * u[l];
    return normalised ? gateGrad * token : A(0);
}

/// Grid: token groups × column groups; block: columns × tokens.
template <class T, int L, int Capacity>
__global__ void gatherRows(const __grid_constant__ GatherArgs<Capacity> args)
{
    using A = Accumulator<T>;
    const std::int64_t column = (std::int64_t(blockIdx.y) * blockDim.x + threadIdx.x) * L;
    const std::int64_t first = std::int64_t(blockIdx.x) * blockDim.y * kTokens + threadIdx.y;
    if (column >= args.width || first >= args.tokens)
        return;
    A sums[kTokens][L] = {};
    A self[kTokens] = {};
    A rstd[kTokens];
    std::int64_t token[kTokens];
#pragma unroll
    for (int r = 0; r < kTokens; ++r) {
        // Beyond the end, processes the last token again without storing it.
        token[r] = first + r * blockDim.y < args.tokens ? first + r * blockDim.y : args.tokens - 1;
        rstd[r] = args.normalised ? static_cast<const A*>(args.rstd)[token[r]] : A(1);
        if (args.own)
            load(static_cast<const T*>(args.own) + token[r] * args.width + column, sums[r]);
    }
    for (std::int32_t k = 0; k < args.readers; ++k)
#pragma unroll
        for (int r = 0; r < kTokens; ++r)
            self[r] -= addReader<T>(args.reader[k], token[r], args.width, column, rstd[r], sums[r]);
#pragma unroll
    for (int r = 0; r < kTokens; ++r) {
        if (first + r * blockDim.y >= args.tokens)
            continue;
        const std::int64_t at = token[r] * args.width + column;
        if (args.normalised) {
            A x[L];
            load(static_cast<const T*>(args.source) + at, x);
            const A scale = self[r] * rstd[r] * rstd[r] / A(args.width);
#pragma unroll
            for (int l = 0; l < L; ++l)
                sums[r][l] += scale * x[l];
        }
        store(static_cast<T*>(args.sourceGrad) + at, sums[r]);
    }
}

bool packable(const MixGather& mix)
{
    bool all = mix.width % kLanes == 0 && aligned(mix.own) && aligned(mix.source) && aligned(mix.sourceGrad);
    for (std::int32_t k = 0; k < mix.readers; ++k) {
        const MixReader& reader = mix.reader[k];
        all = all && aligned(reader.outGrad) && aligned(reader.gateVector) &&
              (reader.weightKind != WeightKind::perFeature || aligned(reader.weight));
    }
    return all;
}

/// Launches with the smallest capacity of 32, 64, 128, 256 and 512 that holds the readers.
template <class T, int L, int Capacity = 32>
Status gather(const MixGather& mix, void* stream)
{
    if constexpr (Capacity < kMaxReaders)
        if (mix.readers > Capacity)
            return gather<T, L, 2 * Capacity>(mix, stream);
    GatherArgs<Capacity> args{mix.tokens, mix.width, mix.readers,    false, mix.own,
                              mix.source, mix.rstd,  mix.sourceGrad, {}};
    for (std::int32_t k = 0; k < mix.readers; ++k) {
        args.reader[k] = mix.reader[k];
        args.normalised = args.normalised || mix.reader[k].gateInput == GateInput::normalised;
    }
    const std::int64_t packs = (mix.width + L - 1) / L;
    const unsigned along = threadsAlong(packs);
    const dim3 block(along, kThreads / along);
    const std::int64_t tokens = std::int64_t(block.y) * kTokens;
    const dim3 grid(unsigned((mix.tokens + tokens - 1) / tokens), unsigned((packs + along - 1) / along));
    return launch(gatherRows<T, L, Capacity>, grid, block, 0, stream, args);
}

} // namespace

Status mixGather(const MixGather& mix, void* stream)
{
    if (const Status status = validate(mix); status != Status::ok || mix.tokens == 0)
        return status;
    const bool packed = packable(mix);
    countCall(mix.dataType, packed);
    return withType(mix.dataType, [&](auto type) {
        using T = decltype(type);
        // float64 is for verification, not speed, so it has only the unpacked form.
        if constexpr (sizeof(T) < 8)
            if (packed)
                return gather<T, kLanes>(mix, stream);
        return gather<T, 1>(mix, stream);
    });
}

} // namespace residua::kernels::cuda
