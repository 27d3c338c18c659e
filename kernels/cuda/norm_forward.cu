// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/norm_rows.cuh"

namespace residua::kernels::cuda {
namespace {

struct ForwardArgs {
    std::int64_t tokens;
    std::int64_t width;
    double eps;
    const void* x;
    const void* residual;
    const void* weight;
    const void* bias;
    void* sum;
    void* y;
    void* rstd;
    void* mean;
    void* largest;
};

/// T: the type of the data; Y: of the result and the residual; centred: a layer norm.
template <class T, class Y, int L, bool centred>
struct Forward {
    using A = Accumulator<T>;
    const ForwardArgs& args;
    std::int64_t row; ///< the index of its first element

    /// Writes x + residual and returns the stored value, so that the backward sees the same numbers.
    __device__ Pack<T, L> add(const Pack<T, L>& x, const Pack<Y, L>& residual, std::int64_t at) const
    {
        Pack<T, L> sum;
#pragma unroll
        for (int l = 0; l < L; ++l)
            narrow(sum.element[l], widen(x.element[l]) + widen(residual.element[l]));
        packAt<L, T>(args.sum, row + at) = sum;
        return sum;
    }

    __device__ static A total(const Pack<T, L>& pack)
    {
        A sum = 0;
#pragma unroll
        for (int l = 0; l < L; ++l)
            sum += widen(pack.element[l]);
        return sum;
    }

    __device__ static A squares(const Pack<T, L>& pack, A mean)
    {
        A sum = 0;
#pragma unroll
        for (int l = 0; l < L; ++l)
            sum += (widen(pack.element[l]) - mean) * (widen(pack.element[l]) - mean);
        return sum;
    }

    /// Returns the larger of `most` and the magnitudes of what it writes.
    __device__ A write(const Pack<T, L>& pack, A mean, A rstd, std::int64_t at, A most) const
    {
        A value[L];
        loadOr(A(1), args.weight, at, value);
#pragma unroll
        for (int l = 0; l < L; ++l)
            value[l] *= (widen(pack.element[l]) - mean) * rstd;
        if constexpr (centred) {
            A bias[L];
            loadOr(A(0), args.bias, at, bias);
#pragma unroll
            for (int l = 0; l < L; ++l)
                value[l] += bias[l];
        }
        store(static_cast<Y*>(args.y) + row + at, value);
#pragma unroll
        for (int l = 0; l < L; ++l)
            most = larger(most, value[l]);
        return most;
    }
};

template <class T, class Y, int L, bool centred>
__global__ void __launch_bounds__(kThreads) forwardNorm(const __grid_constant__ ForwardArgs args)
{
    using A = Accumulator<T>;
    const std::int64_t n = std::int64_t(blockIdx.x) * blockDim.y + threadIdx.y;
    const std::int64_t packs = n < args.tokens ? args.width / L : 0;
    const Forward<T, Y, L, centred> forward{args, n * args.width};
    Pack<T, L> held[kHeld];
    Pack<Y, L> residual[kHeld];
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
        const std::int64_t pack = threadIdx.x + std::int64_t(k) * blockDim.x;
        if (pack < packs) {
            held[k] = packAt<L, T>(args.x, forward.row + pack * L);
            if (args.residual)
                residual[k] = packAt<L, Y>(args.residual, forward.row + pack * L);
        }
    }
    A first = 0; // the sum of the elements of a layer norm, else of their squares
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
        const std::int64_t pack = threadIdx.x + std::int64_t(k) * blockDim.x;
        if (pack < packs) {
            if (args.residual)
                held[k] = forward.add(held[k], residual[k], pack * L);
            first += centred ? forward.total(held[k]) : forward.squares(held[k], A(0));
        }
    }
    const std::int64_t beyond = threadIdx.x + std::int64_t(kHeld) * blockDim.x;
    for (std::int64_t pack = beyond; pack < packs; pack += blockDim.x) {
        Pack<T, L> value = packAt<L, T>(args.x, forward.row + pack * L);
        if (args.residual)
            value = forward.add(value, packAt<L, Y>(args.residual, forward.row + pack * L), pack * L);
        first += centred ? forward.total(value) : forward.squares(value, A(0));
    }
    const void* normalised = args.residual ? args.sum : args.x;
    first = rowSum(first, sharedMemory<A>(), 0) / A(args.width);
    A mean = 0;
    A variance = first;
    if constexpr (centred) {
        mean = first;
        variance = 0;
#pragma unroll
        for (int k = 0; k < kHeld; ++k)
            if (threadIdx.x + std::int64_t(k) * blockDim.x < packs)
                variance += forward.squares(held[k], mean);
        for (std::int64_t pack = beyond; pack < packs; pack += blockDim.x)
            variance += forward.squares(packAt<L, T>(normalised, forward.row + pack * L), mean);
        variance = rowSum(variance, sharedMemory<A>(), 1) / A(args.width);
    }
    const A rstd = A(1) / sqrt(variance + A(args.eps));
    if (n < args.tokens && threadIdx.x == 0) {
        if (args.rstd)
            static_cast<A*>(args.rstd)[n] = rstd;
        if (centred && args.mean)
            static_cast<A*>(args.mean)[n] = mean;
    }
    A most = 0;
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
        const std::int64_t pack = threadIdx.x + std::int64_t(k) * blockDim.x;
        if (pack < packs)
            most = forward.write(held[k], mean, rstd, pack * L, most);
    }
    for (std::int64_t pack = beyond; pack < packs; pack += blockDim.x)
        most = forward.write(packAt<L, T>(normalised, forward.row + pack * L), mean, rstd, pack * L, most);
    if (args.largest) // in the half of the slots that the last sum did not use
        storeLargest<Y>(most, args.largest, n, args.tokens, sharedMemory<A>(), centred ? 0 : 1);
}

} // namespace

Status normForward(const NormForward& norm, void* stream)
{
    if (const Status status = validate(norm); status != Status::ok || norm.tokens == 0)
        return status;
    const bool packed = packable(norm.dataType, norm.width, norm.x, norm.residual, norm.weight,
                                 norm.residual ? norm.sum : nullptr, norm.y, norm.bias);
    countCall(norm.dataType, packed);
    const ForwardArgs args{norm.tokens, norm.width, norm.eps, norm.x,    norm.residual, norm.weight,
                           norm.bias,   norm.sum,   norm.y,   norm.rstd, norm.mean,     norm.largest};
    return withForm(norm, packed, [&](auto data, auto output, auto lanes, auto centred) {
        using T = decltype(data);
        constexpr int kLanesHere = decltype(lanes)::kValue;
        const dim3 block = blockFor(norm.width / kLanesHere);
        const dim3 grid(unsigned((norm.tokens + block.y - 1) / block.y));
        return launch(forwardNorm<T, decltype(output), kLanesHere, decltype(centred)::kValue != 0>, grid, block,
                      kSlots * sizeof(Accumulator<T>), stream, args);
    });
}

} // namespace residua::kernels::cuda
