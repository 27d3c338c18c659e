// SPDX-License-Identifier: GPL-3.0-or-later
// Sinkhorn with one thread per matrix, which stays in registers. The backward keeps the sums of all divisions in shared
// memory and recovers each state from the one after it, as a product with the sum.
#include "kernels/cuda/kernels.cuh"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_args.cuh"

namespace residua::kernels::cuda {
namespace {

constexpr unsigned kMatrices = 64; ///< of a block

template <int n>
struct Matrix {
    float at[n][n];

    __device__ void load(const void* tensor, std::int64_t matrices, std::int64_t k)
    {
#pragma unroll
        for (int i = 0; i < n; ++i)
#pragma unroll
            for (int j = 0; j < n; ++j)
                at[i][j] = static_cast<const float*>(tensor)[(i * n + j) * matrices + k];
    }

    __device__ void store(void* tensor, std::int64_t matrices, std::int64_t k) const
    {
#pragma unroll
        for (int i = 0; i < n; ++i)
#pragma unroll
            for (int j = 0; j < n; ++j)
                static_cast<float*>(tensor)[(i * n + j) * matrices + k] = at[i][j];
    }

    /// Element `e` of line `l`: of row l, or of column l.
    template <bool rows>
    __device__ float& of(int l, int e)
    {
        return rows ? at[l][e] : at[e][l];
    }

    /// Replaces logits by their exponentials. A common factor of a row has no effect on the result, so each row is
    /// relative to its largest element.
    __device__ void exponentiate()
    {
#pragma unroll
        for (int i = 0; i < n; ++i) {
            float most = at[i][0];
#pragma unroll
            for (int j = 1; j < n; ++j)
                most = fmaxf(most, at[i][j]);
#pragma unroll
            for (int j = 0; j < n; ++j)
                at[i][j] = expf(at[i][j] - most);
        }
    }

    /// Divides each line by its sum; writes the sums `stride` apart unless `sums` is null.
    template <bool rows>
    __device__ void divide(float* sums, unsigned stride)
    {
#pragma unroll
        for (int l = 0; l < n; ++l) {
            float sum = of<rows>(l, 0);
#pragma unroll
            for (int e = 1; e < n; ++e)
                sum += of<rows>(l, e);
            if (sums)
                sums[l * stride] = sum;
            const float factor = 1.0f / sum;
#pragma unroll
            for (int e = 0; e < n; ++e)
                of<rows>(l, e) *= factor;
        }
    }
};

/// Goes back through one division: replaces its result by its argument, and the result's gradient by the argument's.
template <bool rows, int n>
__device__ void undivide(Matrix<n>& state, Matrix<n>& grad, const float* sums, unsigned stride)
{
#pragma unroll
    for (int l = 0; l < n; ++l) {
        const float sum = sums[l * stride];
        const float factor = 1.0f / sum;
        float product = 0;
#pragma unroll
        for (int e = 0; e < n; ++e)
            product += grad.template of<rows>(l, e) * state.template of<rows>(l, e);
#pragma unroll
        for (int e = 0; e < n; ++e) {
            grad.template of<rows>(l, e) = (grad.template of<rows>(l, e) - product) * factor;
            state.template of<rows>(l, e) *= sum;
        }
    }
}

template <int n>
__global__ void __launch_bounds__(kMatrices) forward(const __grid_constant__ SinkhornForward args)
{
    const std::int64_t k = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k >= args.matrices)
        return;
    Matrix<n> m;
    m.load(args.logits, args.matrices, k);
    m.exponentiate();
#pragma unroll 1
    for (std::int32_t i = 0; i < args.iterations; ++i) {
        m.template divide<true>(nullptr, 0);
        m.template divide<false>(nullptr, 0);
    }
    m.store(args.out, args.matrices, k);
}

template <int n>
__global__ void __launch_bounds__(kMatrices) backward(const __grid_constant__ SinkhornBackward args)
{
    const std::int64_t k = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k >= args.matrices)
        return;
    const unsigned stride = blockDim.x; // a thread's sums are in one bank
    float* sums = sharedMemory<float>() + threadIdx.x;
    Matrix<n> m;
    m.load(args.logits, args.matrices, k);
    m.exponentiate();
#pragma unroll 1
    for (std::int32_t i = 0; i < args.iterations; ++i) {
        m.template divide<true>(sums, stride);
        m.template divide<false>(sums + n * stride, stride);
        sums += 2 * n * stride;
    }
    Matrix<n> grad;
    grad.load(args.outGrad, args.matrices, k);
#pragma unroll 1
    for (std::int32_t i = 0; i < args.iterations; ++i) {
        sums -= 2 * n * stride;
        undivide<false>(m, grad, sums + n * stride, stride);
        undivide<true>(m, grad, sums, stride);
    }
#pragma unroll
    for (int i = 0; i < n; ++i)
#pragma unroll
        for (int j = 0; j < n; ++j)
            grad.at[i][j] *= m.at[i][j];
    grad.store(args.logitsGrad, args.matrices, k);
}

template <class Sinkhorn>
Status validate(const Sinkhorn& sinkhorn, const void* in, const void* out)
{
    if (sinkhorn.matrices < 0 || !fitsSinkhorn(sinkhorn.size, sinkhorn.iterations))
        return Status::badShape;
    return sinkhorn.matrices == 0 || (sinkhorn.logits && in && out) ? Status::ok : Status::missingPointer;
}

/// Calls body with the size as a constant.
template <class Body>
Status withSize(std::int32_t size, Body body)
{
    switch (size) {
    case 1:
        return body(Constant<1>());
    case 2:
        return body(Constant<2>());
    case 3:
        return body(Constant<3>());
    case 4:
        return body(Constant<4>());
    case 5:
        return body(Constant<5>());
    case 6:
        return body(Constant<6>());
    case 7:
        return body(Constant<7>());
    default:
        return body(Constant<kMaxSinkhornSize>());
    }
}

dim3 blocksFor(std::int64_t matrices, unsigned threads)
{
    return dim3(unsigned((matrices + threads - 1) / threads));
}

} // namespace

Status sinkhornForward(const SinkhornForward& sinkhorn, void* stream)
{
    if (const Status status = validate(sinkhorn, sinkhorn.logits, sinkhorn.out);
        status != Status::ok || sinkhorn.matrices == 0)
        return status;
    return withSize(sinkhorn.size, [&](auto size) {
        return launch(forward<decltype(size)::kValue>, blocksFor(sinkhorn.matrices, kMatrices), dim3(kMatrices), 0,
                      stream, sinkhorn);
    });
}

Status sinkhornBackward(const SinkhornBackward& sinkhorn, void* stream)
{
    if (const Status status = validate(sinkhorn, sinkhorn.outGrad, sinkhorn.logitsGrad);
        status != Status::ok || sinkhorn.matrices == 0)
        return status;
    static_assert(2 * kMaxSinkhornSums * 32 * sizeof(float) <= kSharedBytes);
    const std::size_t bytesEach = 2 * std::size_t(sinkhorn.size) * std::size_t(sinkhorn.iterations) * sizeof(float);
    const unsigned threads = kMatrices * bytesEach <= kSharedBytes ? kMatrices : 32;
    return withSize(sinkhorn.size, [&](auto size) {
        return launch(backward<decltype(size)::kValue>, blocksFor(sinkhorn.matrices, threads), dim3(threads),
                      threads * bytesEach, stream, sinkhorn);
    });
}

} // namespace residua::kernels::cuda
