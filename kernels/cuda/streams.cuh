// SPDX-License-Identifier: GPL-3.0-or-later
// A site's numbers of one token, for the forward and the backward kernel.
#pragma once

#include "kernels/cuda/kernels.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_args.cuh"

namespace residua::kernels::cuda {

/// A site with numbers of type A.
template <class A>
struct SiteNumbers {
    const StreamSite& site;

    __device__ bool isAll() const { return site.norm == StreamNorm::all; }
    __device__ int norms() const { return isAll() ? 1 : site.streams; }
    __device__ int sources() const { return site.streams + site.branches; }
    __device__ A number(const void* array, std::int64_t at, A otherwise) const
    {
        return array ? static_cast<const A*>(array)[at] : otherwise;
    }
    /// The weight of the write at `index` in [n, n + B].
    __device__ A weight(int index, std::int64_t token) const
    {
        return number(site.weights, index, A(0)) + number(site.tokenWeights, index * site.tokens + token, A(0));
    }
    __device__ const A* rows(int stream, int m) const
    {
        const int block = isAll() ? stream : 0;
        return static_cast<const A*>(site.rows) + (std::int64_t(block) * site.logits + m) * site.width;
    }
    /// The logit of a read's weight, among the numbers of a token.
    __device__ int logitOf(int r, int stream) const { return isAll() ? stream : stream * site.logits + r; }
    __device__ A activated(int r, int stream, A y) const
    {
        const A x = number(site.gain, 0, A(1)) * y + number(site.bias, r * site.streams + stream, A(0));
        return site.read == StreamRead::tanh ? tanh(x) : 1 / (1 + exp(-x));
    }
    /// The weight of a read; `y` is not used if the weights are fixed.
    __device__ A readWeight(int r, int stream, A y) const
    {
        const A value = number(site.base, r * site.streams + stream, A(0)) + A(site.constant);
        return site.read == StreamRead::fixed ? value : value + number(site.factor, 0, A(1)) * activated(r, stream, y);
    }
    /// The derivative of a read's weight by its logit.
    __device__ A slope(int r, int stream, A y) const
    {
        const A value = activated(r, stream, y);
        const A derivative = site.read == StreamRead::tanh ? 1 - value * value : value * (1 - value);
        return number(site.factor, 0, A(1)) * number(site.gain, 0, A(1)) * derivative;
    }
};

template <int L, class T>
__device__ inline void loadAt(const void* tensor, std::int64_t at, Accumulator<T> (&to)[L])
{
    load(static_cast<const T*>(tensor) + at, to);
}

/// Calls body with the type of the data, the elements of a pack and the most streams that the kernel unrolls for.
template <class Body>
Status withStreamForm(const StreamSite& site, bool packed, Body body)
{
    return withType(site.dataType, [&](auto data) {
        const auto withMost = [&](auto lanes) {
            if (site.streams <= 2)
                return body(data, lanes, Constant<2>());
            return site.streams <= 4 ? body(data, lanes, Constant<4>()) : body(data, lanes, Constant<kMaxStreams>());
        };
        if constexpr (sizeof(data) == 8)
            return withMost(Constant<1>());
        else
            return packed ? withMost(Constant<kLanes>()) : withMost(Constant<1>());
    });
}

/// True if all rows of a site can be loaded in packs.
template <class Pointer>
bool allAligned(const Pointer (&pointers)[kMaxStreams], std::int32_t count)
{
    for (std::int32_t i = 0; i < count; ++i)
        if (!aligned(pointers[i]))
            return false;
    return true;
}
inline bool packable(const StreamSite& site)
{
    return site.width % kLanes == 0 && (site.logits == 0 || aligned(site.rows)) &&
           (site.branches == 0 || (allAligned(site.old, site.streams) && allAligned(site.branch, site.branches)));
}

} // namespace residua::kernels::cuda
