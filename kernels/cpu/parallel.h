// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/types.h"

namespace residua::kernels {

/// Returns the number of items that make a range worth a thread.
inline std::int64_t grainFor(std::int64_t bytesPerItem)
{
    constexpr std::int64_t kGrainBytes = 128 * 1024;
    return bytesPerItem < kGrainBytes ? kGrainBytes / (bytesPerItem > 0 ? bytesPerItem : 1) : 1;
}

/// Calls body(begin, end) for ranges of [0, count), on the caller's threads or, without them, on this one.
template <class Body>
void forRange(const Parallel& parallel, std::int64_t count, std::int64_t grain, Body body)
{
    if (count <= 0)
        return;
    if (!parallel.run || count <= grain)
        return body(std::int64_t(0), count);
    parallel.run(
        parallel.context, count, grain,
        [](void* state, std::int64_t begin, std::int64_t end) { (*static_cast<Body*>(state))(begin, end); }, &body);
}

// Sums over tokens in two stages: each chunk of tokens has its own partial sums, which are then added in order. The
// chunks depend on the number of tokens only, so the result does not depend on the threads.

struct ChunkLayout {
    std::int64_t chunkTokens;
    std::int64_t chunks;
    std::int64_t stride; ///< elements between the partial sums of two chunks
};

/// Returns the chunks of `tokens` tokens, with stride 0.
[[nodiscard]] ChunkLayout chunksOf(std::int64_t tokens);

/// Computes to[e] = Σ_chunk partial[chunk][offset + e] in the accumulator type of `type`.
void sumChunks(DataType type, const void* partial, std::int64_t offset, const ChunkLayout& layout,
               std::int64_t elements, void* to, const Parallel& parallel);

} // namespace residua::kernels
