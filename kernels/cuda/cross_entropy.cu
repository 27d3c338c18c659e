// SPDX-License-Identifier: GPL-3.0-or-later
// Cross entropy with one block per row. The first pass computes the largest logit and the sum of the exponentials
// relative to it. The second pass writes the gradient; it runs backwards, starting with the values still in the caches.
// The sums of a block are added in a fixed order.
#include "kernels/cuda/kernels.cuh"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_args.cuh"

#include <cfloat>

namespace residua::kernels::cuda {
namespace {

constexpr unsigned kMaxRowThreads = 512;

/// The exponential in a base that suits the type. bfloat16 uses powers of 2, whose error is far below its own.
/// Arguments must be scaled by scaled().
template <class T>
struct Power {
    using A = Accumulator<T>;
    static constexpr bool kBinary = sizeof(T) == 2;
    static constexpr A kLowest = sizeof(A) == 8 ? A(-DBL_MAX) : A(-FLT_MAX);

    __device__ static A scaled(A value) { return kBinary ? value * A(1.4426950408889634) : value; }
    __device__ static A unscaled(A value) { return kBinary ? value * A(0.6931471805599453) : value; }
    __device__ static A of(A value)
    {
        if constexpr (kBinary)
            return exp2f(value);
        else if constexpr (sizeof(A) == 8)
            return exp(value);
        else
            return expf(value);
    }
    __device__ static A inverse(A value)
    {
        if constexpr (kBinary)
            return log2f(value);
        else if constexpr (sizeof(A) == 8)
            return log(value);
        else
            return logf(value);
    }
    __device__ static A larger(A a, A b)
    {
        if constexpr (sizeof(A) == 8)
            return fmax(a, b);
        else
            return fmaxf(a, b);
    }
};

/// Σ exp(l - most), for the largest l so far. Starts at the lowest finite number, so that no difference of infinities
/// occurs before the first logit.
template <class T>
struct Total {
    using A = Accumulator<T>;
    A most = Power<T>::kLowest;
    A sum = 0;

    template <int L>
    __device__ void add(const A (&values)[L])
    {
        A high = most;
#pragma unroll
        for (int l = 0; l < L; ++l)
            high = Power<T>::larger(high, values[l]);
        if (high > most) {
            sum *= Power<T>::of(most - high);
            most = high;
        }
#pragma unroll
        for (int l = 0; l < L; ++l)
            sum += Power<T>::of(values[l] - most);
    }

    __device__ void add(A otherMost, A otherSum)
    {
        const A high = Power<T>::larger(most, otherMost);
        sum = sum * Power<T>::of(most - high) + otherSum * Power<T>::of(otherMost - high);
        most = high;
    }
};

/// A row of logits with its gradient: packs of L, with a few single elements before and after them.
template <class T, int L>
struct Row {
    using A = Accumulator<T>;
    const T* logits;
    T* grad;
    std::int64_t head; ///< elements before the first pack
    std::int64_t packs;
    std::int64_t loose; ///< elements outside the packs, fewer than 2·L

    __device__ Row(const CrossEntropy& args, std::int64_t n)
        : logits(static_cast<const T*>(args.logits) + n * args.rowStride),
          grad(args.grad ? static_cast<T*>(args.grad) + n * args.gradRowStride : nullptr)
    {
        constexpr std::int64_t kBytes = L * sizeof(T);
        const std::int64_t past = std::int64_t(reinterpret_cast<std::uintptr_t>(logits) % kBytes);
        head = past ? (kBytes - past) / std::int64_t(sizeof(T)) : 0;
        head = head < args.classes ? head : args.classes;
        packs = (args.classes - head) / L;
        loose = args.classes - packs * L;
    }

    __device__ std::int64_t packColumn(std::int64_t pack) const { return head + pack * L; }
    __device__ std::int64_t looseColumn(std::int64_t i) const { return i < head ? i : i + packs * L; }

    template <int N>
    __device__ void scaledAt(std::int64_t column, A (&to)[N]) const
    {
        load(logits + column, to);
#pragma unroll
        for (int l = 0; l < N; ++l)
            to[l] = Power<T>::scaled(to[l]);
    }

    __device__ Total<T> total() const
    {
        Total<T> total;
        for (std::int64_t pack = threadIdx.x; pack < packs; pack += blockDim.x) {
            A values[L];
            scaledAt(packColumn(pack), values);
            total.add(values);
        }
        for (std::int64_t i = threadIdx.x; i < loose; i += blockDim.x) {
            A value[1];
            scaledAt(looseColumn(i), value);
            total.add(value);
        }
        return total;
    }

    /// Writes softmax·scale, minus scale at the target.
    template <int N>
    __device__ void differentiate(std::int64_t column, A most, A share, std::int64_t target, A scale) const
    {
        A values[N];
        scaledAt(column, values);
#pragma unroll
        for (int l = 0; l < N; ++l) {
            values[l] = Power<T>::of(values[l] - most) * share;
            if (column + l == target)
                values[l] -= scale;
        }
        store(grad + column, values);
    }

    __device__ void differentiate(const Total<T>& total, std::int64_t target, A scale) const
    {
        const A share = scale / total.sum;
        for (std::int64_t i = threadIdx.x; i < loose; i += blockDim.x)
            differentiate<1>(looseColumn(i), total.most, share, target, scale);
        // From the last pack of the thread to the first, because the last ones are most likely cached.
        const std::int64_t own = packs > threadIdx.x ? (packs - 1 - threadIdx.x) / blockDim.x : -1;
        for (std::int64_t i = own; i >= 0; --i)
            differentiate<L>(packColumn(threadIdx.x + i * blockDim.x), total.most, share, target, scale);
    }

    __device__ void clear() const
    {
        for (std::int64_t i = threadIdx.x; i < loose; i += blockDim.x)
            narrow(grad[looseColumn(i)], A(0));
        for (std::int64_t pack = threadIdx.x; pack < packs; pack += blockDim.x) {
            const A zeros[L] = {};
            store(grad + packColumn(pack), zeros);
        }
    }
};

/// Returns the total of all threads, with the same bits in each. `slots` has two elements per warp.
template <class T>
__device__ inline Total<T> blockTotal(Total<T> total, Accumulator<T>* slots)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        const Accumulator<T> most = __shfl_xor_sync(0xffffffffu, total.most, distance);
        const Accumulator<T> sum = __shfl_xor_sync(0xffffffffu, total.sum, distance);
        total.add(most, sum);
    }
    if (threadIdx.x % 32 == 0) {
        slots[threadIdx.x / 32 * 2] = total.most;
        slots[threadIdx.x / 32 * 2 + 1] = total.sum;
    }
    __syncthreads();
    Total<T> all;
    for (unsigned warp = 0; warp < blockDim.x / 32; ++warp)
        all.add(slots[warp * 2], slots[warp * 2 + 1]);
    return all;
}

template <class T, int L>
__global__ void __launch_bounds__(kMaxRowThreads, sizeof(T) < 8 ? 3 : 2)
    entropyRows(const __grid_constant__ CrossEntropy args)
{
    using A = Accumulator<T>;
    const std::int64_t n = blockIdx.x;
    const std::int64_t target = args.targetType == IndexType::int64 ? static_cast<const std::int64_t*>(args.targets)[n]
                                                                    : static_cast<const std::int32_t*>(args.targets)[n];
    const Row<T, L> row(args, n);
    if (target == args.ignored) {
        if (args.loss && threadIdx.x == 0)
            static_cast<A*>(args.loss)[n] = 0;
        if (args.grad)
            row.clear();
        return;
    }
    const bool valid = target >= 0 && target < args.classes;
    // Read before any thread overwrites the row.
    const A own = valid ? Power<T>::scaled(widen(row.logits[target])) : A(NAN);
    const A weight = args.rowWeight ? static_cast<const A*>(args.rowWeight)[n] : A(1);
    const Total<T> total = blockTotal(row.total(), sharedMemory<A>());
    if (args.loss && threadIdx.x == 0)
        static_cast<A*>(args.loss)[n] = weight * Power<T>::unscaled(total.most - own + Power<T>::inverse(total.sum));
    if (!args.grad)
        return;
    const A scale = A(args.factor) * (args.gradScale ? *static_cast<const A*>(args.gradScale) : A(1)) * weight;
    row.differentiate(total, target, valid ? scale : A(NAN));
}

/// True if a row of logits and its gradient always have the same offset from an aligned address.
bool packable(const CrossEntropy& entropy, std::int64_t elementBytes)
{
    if (!entropy.grad)
        return true;
    const auto logits = reinterpret_cast<std::uintptr_t>(entropy.logits);
    const auto grad = reinterpret_cast<std::uintptr_t>(entropy.grad);
    return (logits - grad) % 16 == 0 && (entropy.rowStride - entropy.gradRowStride) * elementBytes % 16 == 0;
}

template <class T, int L>
Status run(const CrossEntropy& entropy, void* stream)
{
    constexpr std::int64_t kPacksEach = 4;
    unsigned threads = 32;
    while (threads < kMaxRowThreads && threads * kPacksEach * L < entropy.classes)
        threads *= 2;
    return launch(entropyRows<T, L>, dim3(unsigned(entropy.tokens)), dim3(threads),
                  threads / 32 * 2 * sizeof(Accumulator<T>), stream, entropy);
}

} // namespace

Status crossEntropy(const CrossEntropy& entropy, void* stream)
{
    if (const Status status = validate(entropy); status != Status::ok || entropy.tokens == 0)
        return status;
    return withType(entropy.dataType, [&](auto type) {
        using T = decltype(type);
        const bool packed = packable(entropy, sizeof(T));
        countCall(entropy.dataType, packed);
        // float64 is for verification, not speed, so it has only the unpacked form.
        if constexpr (sizeof(T) < 8)
            if (packed)
                return run<T, 16 / int(sizeof(T))>(entropy, stream);
        return run<T, 1>(entropy, stream);
    });
}

} // namespace residua::kernels::cuda
