// SPDX-License-Identifier: GPL-3.0-or-later
// Sums over tokens in two stages: each chunk of tokens has its own partial sums, which are then added in order. The
// chunks depend on the number of tokens only, so the result does not depend on the threads.
#pragma once

#include "kernels/types.h"

namespace residua::kernels {

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
