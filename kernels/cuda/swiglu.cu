// SPDX-License-Identifier: GPL-3.0-or-later
// SwiGLU in one pass: the threads along x of a block process a row, in packs of 16 bytes.
#include "kernels/cuda/kernels.cuh"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_args.cuh"
#include "kernels/cuda/norm_rows.cuh"

namespace residua::kernels::cuda {
namespace {

__device__ inline float sigmoid(float value)
{
    return 1.0f / (1.0f + expf(-value));
}
__device__ inline double sigmoid(double value)
{
    return 1.0 / (1.0 + exp(-value));
}

template <class T, int L>
__global__ void __launch_bounds__(kThreads) forwardRows(const __grid_constant__ SwigluForward args)
{
    using A = Accumulator<T>;
    const std::int64_t n = std::int64_t(blockIdx.x) * blockDim.y + threadIdx.y;
    const std::int64_t width = n < args.tokens ? args.width : 0;
    const T* gate = static_cast<const T*>(args.gate) + n * args.rowStride;
    const T* up = static_cast<const T*>(args.up) + n * args.rowStride;
    T* out = static_cast<T*>(args.out) + n * args.width;
    A most = 0;
    for (std::int64_t at = std::int64_t(threadIdx.x) * L; at < width; at += blockDim.x * L) {
        A value[L];
        A other[L];
        load(gate + at, value);
        load(up + at, other);
#pragma unroll
        for (int l = 0; l < L; ++l) {
            value[l] = value[l] * sigmoid(value[l]) * other[l];
            most = larger(most, value[l]);
        }
        store(out + at, value);
    }
    if (args.largest)
        storeLargest<T>(most, args.largest, n, args.tokens, sharedMemory<A>(), 0);
}

template <class T, int L>
__global__ void __launch_bounds__(kThreads) backwardRows(const __grid_constant__ SwigluBackward args)
{
    using A = Accumulator<T>;
    const std::int64_t n = std::int64_t(blockIdx.x) * blockDim.y + threadIdx.y;
    const std::int64_t width = n < args.tokens ? args.width : 0;
    const T* gate = static_cast<const T*>(args.gate) + n * args.rowStride;
    const T* up = static_cast<const T*>(args.up) + n * args.rowStride;
    const T* outGrad = static_cast<const T*>(args.outGrad) + n * args.width;
    T* gateGrad = static_cast<T*>(args.gateGrad) + n * args.gradRowStride;
    T* upGrad = static_cast<T*>(args.upGrad) + n * args.gradRowStride;
    A most = 0;
    for (std::int64_t at = std::int64_t(threadIdx.x) * L; at < width; at += blockDim.x * L) {
        A value[L];
        A other[L];
        A grad[L];
        load(gate + at, value);
        load(up + at, other);
        load(outGrad + at, grad);
#pragma unroll
        for (int l = 0; l < L; ++l) {
            const A open = sigmoid(value[l]);
            other[l] = grad[l] * other[l] * (open + value[l] * open * (1 - open));
            grad[l] = grad[l] * value[l] * open;
            most = larger(larger(most, other[l]), grad[l]);
        }
        store(gateGrad + at, other);
        store(upGrad + at, grad);
    }
    if (args.largest)
        storeLargest<T>(most, args.largest, n, args.tokens, sharedMemory<A>(), 0);
}

/// Calls run with the number of elements in 16 bytes if all rows are aligned for it, else with 1. float64 has only the
/// unpacked form.
template <class T, class Swiglu, class Run>
Status withLanes(const Swiglu& swiglu, bool aligned, Run run)
{
    constexpr int kMost = 16 / int(sizeof(T));
    const bool packed = aligned && swiglu.width % kMost == 0 && swiglu.rowStride % kMost == 0;
    countCall(swiglu.dataType, packed);
    if constexpr (sizeof(T) < 8)
        if (packed)
            return run(Constant<kMost>());
    return run(Constant<1>());
}

template <class Args>
Status launchRows(void (*kernel)(Args), const Args& args, std::int64_t packs, void* stream)
{
    unsigned threads = 32;
    while (threads < kThreads && threads < packs)
        threads *= 2;
    const dim3 block(threads, kThreads / threads);
    const std::size_t shared = args.largest ? kWarps * (args.dataType == DataType::float64 ? 8 : 4) : 0;
    return launch(kernel, dim3(unsigned((args.tokens + block.y - 1) / block.y)), block, shared, stream, args);
}

} // namespace

Status swigluForward(const SwigluForward& swiglu, void* stream)
{
    if (const Status status = validate(swiglu); status != Status::ok || swiglu.tokens == 0)
        return status;
    return withType(swiglu.dataType, [&](auto type) {
        using T = decltype(type);
        const bool all = aligned(swiglu.gate) && aligned(swiglu.up) && aligned(swiglu.out);
        return withLanes<T>(swiglu, all, [&](auto lanes) {
            constexpr int kLanesHere = decltype(lanes)::kValue;
            return launchRows(forwardRows<T, kLanesHere>, swiglu, swiglu.width / kLanesHere, stream);
        });
    });
}

Status swigluBackward(const SwigluBackward& swiglu, void* stream)
{
    if (const Status status = validate(swiglu); status != Status::ok || swiglu.tokens == 0)
        return status;
    return withType(swiglu.dataType, [&](auto type) {
        using T = decltype(type);
        const bool all = aligned(swiglu.gate) && aligned(swiglu.up) && aligned(swiglu.outGrad) &&
                         aligned(swiglu.gateGrad) && aligned(swiglu.upGrad) &&
                         swiglu.gradRowStride * std::int64_t(sizeof(T)) % 16 == 0;
        return withLanes<T>(swiglu, all, [&](auto lanes) {
            constexpr int kLanesHere = decltype(lanes)::kValue;
            return launchRows(backwardRows<T, kLanesHere>, swiglu, swiglu.width / kLanesHere, stream);
        });
    });
}

} // namespace residua::kernels::cuda
