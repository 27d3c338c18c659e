// SPDX-License-Identifier: GPL-3.0-or-later
// Doubly stochastic matrices by the iterations of Sinkhorn and Knopp. CUDA only, float32 only.
//
// With S = n²·N·4, bytes that must move: sinkhornForward 2 S, sinkhornBackward 3 S.
#pragma once

#include "kernels/types.h"

#include <cstdint>

namespace residua::kernels {

inline constexpr std::int32_t kMaxSinkhornSize = 8; ///< n
/// The maximum of n·iterations. The backward keeps 2·n sums of each iteration in shared memory.
inline constexpr std::int64_t kMaxSinkhornSums = 320;

/// True if the kernels support matrices of this size with this number of iterations.
[[nodiscard]] constexpr bool fitsSinkhorn(std::int64_t size, std::int64_t iterations)
{
    return size >= 1 && size <= kMaxSinkhornSize && iterations >= 1 && iterations <= kMaxSinkhornSums / size;
}

/// m = exp(logits); then `iterations` times: each row, then each column, is divided by its sum. Element (i, j) of
/// matrix k is at (i·n + j)·N + k; row i holds the elements with the first index i. Tensors must not overlap.
struct SinkhornForward {
    std::int32_t size = 0;        ///< n, 1 to kMaxSinkhornSize
    std::int32_t iterations = 0;  ///< at least 1; n·iterations <= kMaxSinkhornSums
    std::int64_t matrices = 0;    ///< N
    const void* logits = nullptr; ///< [n, n, N]
    void* out = nullptr;          ///< m: [n, n, N]
};

/// The gradient of the logits. Repeats the divisions from the logits, then goes back through them: y = x/Σx has
/// dx = (dy - Σ dy·y)/Σx.
struct SinkhornBackward {
    std::int32_t size = 0;
    std::int32_t iterations = 0;
    std::int64_t matrices = 0;
    const void* logits = nullptr;  ///< [n, n, N]
    const void* outGrad = nullptr; ///< [n, n, N]
    void* logitsGrad = nullptr;    ///< [n, n, N]
};

} // namespace residua::kernels
