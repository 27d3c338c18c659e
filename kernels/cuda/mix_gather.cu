// SPDX-License-Identifier: GPL-3.0-or-later
// mixGather: each thread has a few columns of a few tokens and loops over the readers; every gradient is read once.
// Readers of one form, the usual case, have a kernel without branches in the loop, which loads the gradients of two
// readers before it adds the first. Other readers have a kernel that tests the kinds of each.
#include "kernels/cuda/kernels.cuh"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_args.cuh"

#include <algorithm>
#include <optional>

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

/// For any readers. Grid: token groups × column groups; block: columns × tokens.
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

/// The forms that all readers can have in common.
enum class Form { number, token, feature, reluOutside, reluInside };

/// A reader of a common form.
struct FormReader {
    const void* outGrad;
    const float* weight;
    const float* token;
    const float* gateGrad;
    const float* gateVector;
};

template <int Capacity>
struct FormArgs {
    std::int64_t tokens;
    std::int64_t width;
    std::int32_t readers;
    const void* own;
    const void* source;
    const float* rstd; ///< null unless the gates are normalised
    void* sourceGrad;
    FormReader reader[Capacity];
};
static_assert(sizeof(FormArgs<kMaxReaders>) <= 32764);

/// Elements of a pack of 16 bytes.
template <class T>
inline constexpr int kFormLanes = 16 / int(sizeof(T));

constexpr bool isRelu(Form form)
{
    return form == Form::reluOutside || form == Form::reluInside;
}

/// The tokens of a thread, and the blocks on a multiprocessor that its registers must allow.
template <class T, Form form>
struct FormShape {
    static constexpr int kTokens = isRelu(form) ? 4 : 2;
    static constexpr int kBlocks = isRelu(form) ? 2 : 4;
};

/// The values of one reader that a thread loads ahead of their use.
template <int tokens>
struct Fetched {
    Words grad[tokens];
    float token[tokens];
    float gateGrad[tokens];
};

/// The columns of a thread and its sums over the readers.
template <class T, Form form>
struct FormThread {
    static constexpr int L = kFormLanes<T>;
    static constexpr int kTokens = FormShape<T, form>::kTokens;
    static constexpr bool kIsRelu = isRelu(form);
    static constexpr bool kHasWeights = form == Form::feature || kIsRelu;

    std::int64_t at;      ///< of the first token's columns
    std::int64_t token;   ///< the first
    int step[kTokens];    ///< elements from the first token's row
    int toToken[kTokens]; ///< tokens from the first
    int column;
    float rstd[kTokens];
    float self[kTokens] = {}; ///< -Σ q·z
    float sums[kTokens][L] = {};

    __device__ Fetched<kTokens> fetch(const FormReader& reader) const
    {
        Fetched<kTokens> result;
#pragma unroll
        for (int r = 0; r < kTokens; ++r) {
            result.grad[r] = loadOnce(static_cast<const T*>(reader.outGrad) + at + step[r]);
            result.token[r] = form == Form::token || kIsRelu ? reader.token[token + toToken[r]] : 0.0F;
            result.gateGrad[r] = kIsRelu ? reader.gateGrad[token + toToken[r]] : 0.0F;
        }
        return result;
    }

    /// Adds weight·g + q·u of one reader.
    __device__ void add(const FormReader& reader, const Fetched<kTokens>& fetched)
    {
        float weight[L] = {};
        if constexpr (kHasWeights)
            load(reader.weight + column, weight);
        const float number = form == Form::number ? *reader.weight : 0.0F;
#pragma unroll
        for (int r = 0; r < kTokens; ++r) {
            const float coefficient = form == Form::reluOutside ? relu(fetched.token[r])
                                      : form == Form::number    ? number
                                                                : fetched.token[r];
            float grad[L];
            widen(fetched.grad[r], grad);
#pragma unroll
            for (int l = 0; l < L; ++l) {
                const float total = kHasWeights ? weight[l] + coefficient : coefficient;
                sums[r][l] += (form == Form::reluInside ? relu(total) : total) * grad[l];
            }
        }
        if constexpr (kIsRelu) {
            float u[L];
            load(reader.gateVector + column, u);
#pragma unroll
            for (int r = 0; r < kTokens; ++r) {
                self[r] -= fetched.gateGrad[r] * fetched.token[r];
                const float scale = fetched.gateGrad[r] * rstd[r];
#pragma unroll
                for (int l = 0; l < L; ++l)
                    sums[r][l] += scale * u[l];
            }
        }
    }
};

/// For readers of one form. Grid: token groups × column groups; block: columns × tokens.
template <class T, Form form, int Capacity>
__global__ void __launch_bounds__(kThreads, FormShape<T, form>::kBlocks)
    gatherForm(const __grid_constant__ FormArgs<Capacity> args)
{
    using Thread = FormThread<T, form>;
    constexpr int kFormTokens = Thread::kTokens;
    Thread thread;
    thread.column = int(blockIdx.y * blockDim.x + threadIdx.x) * Thread::L;
    const std::int64_t first = std::int64_t(blockIdx.x) * blockDim.y * kFormTokens + threadIdx.y;
    if (thread.column >= args.width || first >= args.tokens)
        return;
    thread.token = first;
    thread.at = first * args.width + thread.column;
    const std::int64_t left = args.tokens - 1 - first;
#pragma unroll
    for (int r = 0; r < kFormTokens; ++r) {
        // Beyond the end, processes the first token again without storing it.
        const int away = r * int(blockDim.y);
        thread.toToken[r] = away <= left ? away : 0;
        thread.step[r] = thread.toToken[r] * int(args.width);
        thread.rstd[r] = args.rstd ? args.rstd[first + thread.toToken[r]] : 1.0F;
        if (args.own)
            load(static_cast<const T*>(args.own) + thread.at + thread.step[r], thread.sums[r]);
    }
    std::int32_t k = 0;
    for (; k + 1 < args.readers; k += 2) {
        const auto one = thread.fetch(args.reader[k]);
        const auto two = thread.fetch(args.reader[k + 1]);
        thread.add(args.reader[k], one);
        thread.add(args.reader[k + 1], two);
    }
    if (k < args.readers)
        thread.add(args.reader[k], thread.fetch(args.reader[k]));
#pragma unroll
    for (int r = 0; r < kFormTokens; ++r) {
        if (first + r * blockDim.y >= args.tokens)
            continue;
        if (args.rstd) {
            float x[Thread::L];
            load(static_cast<const T*>(args.source) + thread.at + thread.step[r], x);
            const float scale = thread.self[r] * thread.rstd[r] * thread.rstd[r] / float(args.width);
#pragma unroll
            for (int l = 0; l < Thread::L; ++l)
                thread.sums[r][l] += scale * x[l];
        }
        store(static_cast<T*>(args.sourceGrad) + thread.at + thread.step[r], thread.sums[r]);
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

dim3 blockOf(std::int64_t packs)
{
    const unsigned along = threadsAlong(packs);
    return dim3(along, kThreads / along);
}

/// Launches with the smallest capacity of 32, 128 and 512 that holds the readers.
template <class T, int L, int Capacity = 32>
Status gather(const MixGather& mix, void* stream)
{
    if constexpr (Capacity < kMaxReaders)
        if (mix.readers > Capacity)
            return gather<T, L, 4 * Capacity>(mix, stream);
    GatherArgs<Capacity> args{mix.tokens, mix.width, mix.readers,    false, mix.own,
                              mix.source, mix.rstd,  mix.sourceGrad, {}};
    for (std::int32_t k = 0; k < mix.readers; ++k) {
        args.reader[k] = mix.reader[k];
        args.normalised = args.normalised || mix.reader[k].gateInput == GateInput::normalised;
    }
    const std::int64_t packs = (mix.width + L - 1) / L;
    const dim3 block = blockOf(packs);
    const std::int64_t tokens = std::int64_t(block.y) * kTokens;
    const dim3 grid(unsigned((mix.tokens + tokens - 1) / tokens), unsigned((packs + block.x - 1) / block.x));
    return launch(gatherRows<T, L, Capacity>, grid, block, 0, stream, args);
}

template <class T, Form form, int Capacity = 32>
Status launchForm(const MixGather& mix, void* stream)
{
    if constexpr (Capacity < kMaxReaders)
        if (mix.readers > Capacity)
            return launchForm<T, form, 4 * Capacity>(mix, stream);
    const bool normalised = mix.reader[0].gateInput == GateInput::normalised;
    FormArgs<Capacity> args{mix.tokens,     mix.width,  mix.readers,
                            mix.own,        mix.source, normalised ? static_cast<const float*>(mix.rstd) : nullptr,
                            mix.sourceGrad, {}};
    for (std::int32_t k = 0; k < mix.readers; ++k) {
        const MixReader& from = mix.reader[k];
        args.reader[k] = {from.outGrad, static_cast<const float*>(from.weight), static_cast<const float*>(from.token),
                          static_cast<const float*>(from.gateGrad), static_cast<const float*>(from.gateVector)};
    }
    const std::int64_t packs = mix.width / kFormLanes<T>;
    const dim3 block = blockOf(packs);
    const std::int64_t tokens = std::int64_t(block.y) * FormShape<T, form>::kTokens;
    const dim3 grid(unsigned((mix.tokens + tokens - 1) / tokens), unsigned((packs + block.x - 1) / block.x));
    return launch(gatherForm<T, form, Capacity>, grid, block, 0, stream, args);
}

/// Launches the kernel of the readers' common form; nullopt if they have none.
template <class T>
std::optional<Status> gatherCommon(const MixGather& mix, void* stream)
{
    if (mix.readers == 0 || mix.width % kFormLanes<T> != 0)
        return std::nullopt;
    const MixReader& reader = mix.reader[0];
    const auto agrees = [&](const MixReader& other) {
        return other.weightKind == reader.weightKind && other.gateKind == reader.gateKind &&
               other.gateInput == reader.gateInput;
    };
    if (!std::all_of(mix.reader, mix.reader + mix.readers, agrees))
        return std::nullopt;
    if (reader.weightKind == WeightKind::scalar && reader.gateKind == GateKind::none)
        return launchForm<T, Form::number>(mix, stream);
    if (reader.weightKind == WeightKind::none && reader.gateKind == GateKind::token)
        return launchForm<T, Form::token>(mix, stream);
    if (reader.weightKind != WeightKind::perFeature || reader.gateKind == GateKind::token)
        return std::nullopt;
    return reader.gateKind == GateKind::none          ? launchForm<T, Form::feature>(mix, stream)
           : reader.gateKind == GateKind::reluOutside ? launchForm<T, Form::reluOutside>(mix, stream)
                                                      : launchForm<T, Form::reluInside>(mix, stream);
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
            if (packed) {
                const std::optional<Status> common = gatherCommon<T>(mix, stream);
                return common ? *common : gather<T, kLanes>(mix, stream);
            }
        return gather<T, 1>(mix, stream);
    });
}

} // namespace residua::kernels::cuda
