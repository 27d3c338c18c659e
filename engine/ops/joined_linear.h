// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ops/fused.h"
#include "engine/ops/part_selection.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

namespace residua::engine {

/// Products that share an input and what follows them, as one differentiable function each: the products are one
/// product with matrices that lie in one block of memory (joinRows), and no copy stands between the
/// parts. All tensors are in one of the kernels' types; gradients reach each parameter under its own name.

/// Lays the rows of several matrices [·, in], or vectors, one after another in memory and makes the matrices views of
/// it, so that one product serves all. Names and values stay. The whole as one tensor without gradient.
[[nodiscard]] at::Tensor joinRows(std::vector<at::Tensor>& matrices);

/// silu(x·Wgᵀ) · (x·Wuᵀ). `joined` [2h, in] holds the rows of both; `gate` and `up` are its views that require
/// gradients. With `kept`, of those rows of each alone: one copy of them, and gradients that are 0 elsewhere.
[[nodiscard]] at::Tensor gatedLinear(const at::Tensor& x, const at::Tensor& gate, const at::Tensor& up,
                                     const at::Tensor& joined, const PartRuns& kept = {});

/// What attention makes of its three inputs before the output's projection.
struct ProjectedAttention {
    at::Tensor inputs[3];   ///< of q, k and v: [batch, time, in]; may be one and the same
    at::Tensor weights[3];  ///< [heads · headDim, in] each, views of `joined` that require gradients
    at::Tensor joined;      ///< [3 · heads · headDim, in]
    PartRuns kept;          ///< rows of each of q, k and v that run; their gradients are 0 elsewhere
    std::int64_t heads = 1; ///< that run
    bool causal = true;
    const RotaryTable::Angles* angles = nullptr; ///< null without rotary positions
};
/// [batch, time, heads · headDim]. CPU only.
[[nodiscard]] at::Tensor projectedAttention(const ProjectedAttention& attention);

/// Queries, keys and values of one input by one product.
struct ProjectedHeads {
    at::Tensor input;         ///< [batch, time, in], in the type to compute in
    at::Tensor weights[3];    ///< of q, k and v: [rows, in] each, views of `joined` that require gradients
    at::Tensor joined;        ///< [all rows, in]
    at::Tensor biases[3];     ///< [rows] each, views of `joinedBias`; or undefined
    at::Tensor joinedBias;    ///< [all rows], or undefined
    std::int64_t headDim = 1; ///< divides the rows of each
    const RotaryTable::Angles* angles = nullptr; ///< null: q and k are not turned
};
/// [batch, time, rows] of q, k and v: parts of one tensor, with features that are adjacent.
[[nodiscard]] std::array<at::Tensor, 3> projectedHeads(const ProjectedHeads& heads);

} // namespace residua::engine
