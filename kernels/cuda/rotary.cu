// SPDX-License-Identifier: GPL-3.0-or-later
// Rotary embedding. The threads along x of a block process one (batch, time) with all its heads. Each thread rotates a
// pack of the first half of a head's features together with its partner in the second half, so that `out` may be `in`.
#include "kernels/cuda/kernels.cuh"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_args.cuh"

namespace residua::kernels::cuda {
namespace {

__device__ inline std::int64_t offset(const RotaryStrides& strides, std::int64_t batch, std::int64_t time)
{
    return batch * strides.batch + time * strides.time;
}

template <class T, int L>
__global__ void __launch_bounds__(kThreads) turnHeads(const __grid_constant__ Rotary args)
{
    using A = Accumulator<T>;
    const std::int64_t n = std::int64_t(blockIdx.x) * blockDim.y + threadIdx.y;
    if (n >= args.batch * args.time)
        return;
    const std::int64_t batch = n / args.time;
    const std::int64_t time = n - batch * args.time;
    const T* in = static_cast<const T*>(args.in) + offset(args.inStrides, batch, time);
    T* out = static_cast<T*>(args.out) + offset(args.outStrides, batch, time);
    const std::int64_t half = args.rotated / 2;
    const A direction = args.rotation == Rotation::forward ? A(1) : A(-1);
    const auto packs = unsigned(half / L);
    const auto pairs = unsigned(args.heads) * packs;
    for (unsigned pair = threadIdx.x; pair < pairs; pair += blockDim.x) {
        const unsigned head = pair / packs;
        const std::int64_t column = std::int64_t(pair - head * packs) * L;
        const T* from = in + head * args.inStrides.head + column;
        T* to = out + head * args.outStrides.head + column;
        A low[L];
        A high[L];
        A cosine[L];
        A sine[L];
        load(from, low);
        load(from + half, high);
        load(static_cast<const A*>(args.cosine) + time * half + column, cosine);
        load(static_cast<const A*>(args.sine) + time * half + column, sine);
        A turned[L];
#pragma unroll
        for (int l = 0; l < L; ++l) {
            sine[l] *= direction;
            turned[l] = low[l] * cosine[l] - high[l] * sine[l];
            high[l] = high[l] * cosine[l] + low[l] * sine[l];
        }
        store(to, turned);
        store(to + half, high);
    }
    const auto still = unsigned(args.headWidth - args.rotated);
    for (unsigned i = threadIdx.x; i < still * unsigned(args.heads); i += blockDim.x) {
        const unsigned head = i / still;
        const std::int64_t column = args.rotated + (i - head * still);
        out[head * args.outStrides.head + column] = in[head * args.inStrides.head + column];
    }
}

bool packable(const Rotary& rotary, std::int64_t lanes)
{
    const auto even = [&](const RotaryStrides& strides) {
        return strides.batch % lanes == 0 && strides.time % lanes == 0 && strides.head % lanes == 0;
    };
    return rotary.rotated / 2 % lanes == 0 && even(rotary.inStrides) && even(rotary.outStrides) && aligned(rotary.in) &&
           aligned(rotary.out) && aligned(rotary.cosine) && aligned(rotary.sine);
}

template <class T, int L>
Status turn(const Rotary& rotary, void* stream)
{
    const std::int64_t packs = rotary.heads * (rotary.rotated / 2 / L);
    unsigned threads = 32;
    while (threads < kThreads && threads < packs)
        threads *= 2;
    const dim3 block(threads, kThreads / threads);
    const std::int64_t rows = rotary.batch * rotary.time;
    return launch(turnHeads<T, L>, dim3(unsigned((rows + block.y - 1) / block.y)), block, 0, stream, rotary);
}

} // namespace

Status rotary(const Rotary& rotary, void* stream)
{
    if (const Status status = validate(rotary); status != Status::ok)
        return status;
    if (rotary.batch * rotary.time * rotary.heads == 0)
        return Status::ok;
    return withType(rotary.dataType, [&](auto type) {
        using T = decltype(type);
        constexpr int kMost = 16 / int(sizeof(T));
        const bool packed = packable(rotary, kMost);
        countCall(rotary.dataType, packed);
        // float64 is for verification, not speed, so it has only the unpacked form.
        if constexpr (sizeof(T) < 8)
            if (packed)
                return turn<T, kMost>(rotary, stream);
        return turn<T, 1>(rotary, stream);
    });
}

} // namespace residua::kernels::cuda
