// SPDX-License-Identifier: GPL-3.0-or-later
// Dropout by counter: a thread takes one counter and the four elements that have its words. Neighbouring threads have
// neighbouring elements.
#include "kernels/cuda/kernels.cuh"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_args.cuh"

namespace residua::kernels::cuda {
namespace {

struct Words {
    std::uint32_t word[4];
};

/// Returns the words of Philox at a counter of 128 bits.
__device__ inline Words philox(std::uint64_t key, std::uint64_t low, std::uint64_t high)
{
    std::uint32_t x0 = std::uint32_t(low);
    std::uint32_t x1 = std::uint32_t(low >> 32);
    std::uint32_t x2 = std::uint32_t(high);
    std::uint32_t x3 = std::uint32_t(high >> 32);
    std::uint32_t k0 = std::uint32_t(key);
    std::uint32_t k1 = std::uint32_t(key >> 32);
#pragma unroll
    for (int round = 0; round < kPhiloxRounds; ++round) {
        const std::uint64_t a = std::uint64_t(kPhiloxFirst) * x0;
        const std::uint64_t b = std::uint64_t(kPhiloxSecond) * x2;
        x0 = std::uint32_t(b >> 32) ^ x1 ^ k0;
        x2 = std::uint32_t(a >> 32) ^ x3 ^ k1;
        x1 = std::uint32_t(b);
        x3 = std::uint32_t(a);
        k0 += kPhiloxKeyFirst;
        k1 += kPhiloxKeySecond;
    }
    return {{x0, x1, x2, x3}};
}

template <class T>
__global__ void __launch_bounds__(kThreads) dropElements(const __grid_constant__ Dropout args)
{
    const std::int64_t groups = (args.width + kDropoutGroup - 1) / kDropoutGroup;
    const std::int64_t counters = groups * kDropoutCounters;
    const std::int64_t at = std::int64_t(blockIdx.x) * kThreads + threadIdx.x;
    if (at >= args.examples * counters)
        return;
    const std::int64_t example = at / counters;
    const std::int64_t counter = at % counters;
    const Words draws =
        philox(args.draws[0] ^ args.stream, std::uint64_t(counter), args.draws[1] + std::uint64_t(example));
    const std::int64_t first = counter / kDropoutCounters * kDropoutGroup + counter % kDropoutCounters;
    const T* in = static_cast<const T*>(args.in) + example * args.width;
    T* out = static_cast<T*>(args.out) + example * args.width;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
        const std::int64_t element = first + w * kDropoutCounters;
        if (element < args.width) {
            Accumulator<T> value[1];
            load(in + element, value);
            value[0] *= draws.word[w] < args.threshold ? Accumulator<T>(0) : Accumulator<T>(args.scale);
            store(out + element, value);
        }
    }
}

} // namespace

Status dropout(const Dropout& dropout, void* stream)
{
    if (const Status status = validate(dropout); status != Status::ok || dropout.examples == 0)
        return status;
    const std::int64_t groups = (dropout.width + kDropoutGroup - 1) / kDropoutGroup;
    const std::int64_t blocks = (dropout.examples * groups * kDropoutCounters + kThreads - 1) / kThreads;
    return withType(dropout.dataType, [&](auto type) {
        using T = decltype(type);
        return launch(dropElements<T>, dim3(unsigned(blocks)), dim3(unsigned(kThreads)), 0, stream, dropout);
    });
}

} // namespace residua::kernels::cuda
