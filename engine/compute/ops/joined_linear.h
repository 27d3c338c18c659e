// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/ops/fused.h"
#include "engine/compute/ops/part_selection.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

namespace residua::engine {

/// Products with a common input, fused with the operations after them into one differentiable function each. The
/// products are computed as one, with matrices that share one block of memory (joinRows), so the parts need no copies.
/// All tensors are in one of the kernels' types. Each parameter gets its own gradient.

/// Places the rows of several matrices [·, in], or vectors, consecutively in memory and makes the matrices views of it,
/// so that one product serves all. Names and values are unchanged. Each matrix is followed by rows of zeros up to a
/// multiple of `multiple`, which belong to no matrix. Returns the whole as one tensor without gradient.
[[nodiscard]] at::Tensor joinRows(std::vector<at::Tensor>& matrices, std::int64_t multiple = 1);

/// Returns silu(x·Wgᵀ) · (x·Wuᵀ). `joined` [2H, in] holds the rows of both, or is their copy in x's type, each followed
/// by zeros up to H rows; `gate` and `up` [h, in] require gradients. The result has H features; those after h are 0.
/// With `kept`, uses only these rows of each: copies them once, the result has their features alone, and the gradients
/// of the other rows are 0.
[[nodiscard]] at::Tensor gatedLinear(const at::Tensor& x, const at::Tensor& gate, const at::Tensor& up,
                                     const at::Tensor& joined, Products products, const PartRuns& kept = {});

/// The inputs of an attention up to the output's projection.
struct ProjectedAttention {
    at::Tensor inputs[3];   ///< of q, k and v: [batch, time, in]; may be the same tensor
    at::Tensor weights[3];  ///< [heads · headDim, in] each, which require gradients
    at::Tensor joined;      ///< [3 · heads · headDim, in]: the weights, or their copy in the inputs' type
    PartRuns kept;          ///< the rows of each of q, k and v that run; other rows have gradient 0
    std::int64_t heads = 1; ///< the number of heads that run
    bool causal = true;
    const RotaryTable::Angles* angles = nullptr; ///< null without rotary positions
    Products products = Products::Own;
};
/// Returns [batch, time, heads · headDim]. CPU only.
[[nodiscard]] at::Tensor projectedAttention(const ProjectedAttention& attention);

/// The inputs for queries, keys and values, computed from one input by one product.
struct ProjectedHeads {
    at::Tensor input;                            ///< [batch, time, in], in the type of the computation
    at::Tensor weights[3];                       ///< of q, k and v: [rows, in] each, which require gradients
    at::Tensor joined;                           ///< [all rows, in]: the weights, or their copy in the input's type
    at::Tensor biases[3];                        ///< [rows] each, or undefined
    at::Tensor joinedBias;                       ///< [all rows], like `joined`; or undefined
    std::int64_t headDim = 1;                    ///< divides the number of rows of each
    const RotaryTable::Angles* angles = nullptr; ///< null: q and k are not rotated
    Products products = Products::Own;
};
/// Returns q, k and v, [batch, time, rows] each: parts of one tensor, with adjacent features.
[[nodiscard]] std::array<at::Tensor, 3> projectedHeads(const ProjectedHeads& heads);

/// True if `node` is the backward of one of these functions, or readsRounded(). If activations are bfloat16, it reads
/// parameters only as their rounded copies.
[[nodiscard]] bool readsCopies(const torch::autograd::Node& node);

} // namespace residua::engine
