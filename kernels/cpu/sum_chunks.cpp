// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/parallel.h"

#include <algorithm>

namespace residua::kernels {
namespace {

template <class A>
void sum(const A* partial, const ChunkLayout& layout, std::int64_t elements, A* to, const Parallel& parallel)
{
    forRange(parallel, elements, 4096, [&](std::int64_t begin, std::int64_t end) {
        std::fill(to + begin, to + end, A(0));
        for (std::int64_t chunk = 0; chunk < layout.chunks; ++chunk) {
            const A* from = partial + chunk * layout.stride;
            for (std::int64_t e = begin; e < end; ++e)
                to[e] += from[e];
        }
    });
}

} // namespace

ChunkLayout chunksOf(std::int64_t tokens)
{
    const std::int64_t chunkTokens = std::clamp<std::int64_t>((tokens + 63) / 64, 128, 1024);
    return {chunkTokens, (tokens + chunkTokens - 1) / chunkTokens, 0};
}

void sumChunks(DataType type, const void* partial, std::int64_t offset, const ChunkLayout& layout,
               std::int64_t elements, void* to, const Parallel& parallel)
{
    if (type == DataType::float64)
        sum(static_cast<const double*>(partial) + offset, layout, elements, static_cast<double*>(to), parallel);
    else
        sum(static_cast<const float*>(partial) + offset, layout, elements, static_cast<float*>(to), parallel);
}

} // namespace residua::kernels
