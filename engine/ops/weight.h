// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/ops/fused.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace residua::engine {

/// The weight of a product, [out, in] or [out, in, …] of a convolution: whole, or u·v, whose product is never formed.
struct Weight {
    at::Tensor whole; ///< undefined where it is in factors
    at::Tensor u;     ///< [out, rank]
    at::Tensor v;     ///< [rank, in, …]

    [[nodiscard]] bool factored() const { return u.defined(); }
    /// The parameter that stands for it: the whole, or u.
    [[nodiscard]] const at::Tensor& parameter() const { return factored() ? u : whole; }
    [[nodiscard]] std::int64_t out() const { return parameter().size(0); }
    [[nodiscard]] std::int64_t in() const { return factored() ? v.size(1) : whole.size(1); }
};

/// The weight's rows, or columns, cut into `count` parts of equal length of which those in `parts` stay
/// (part_selection.h).
[[nodiscard]] Weight rowsAt(const Weight& weight, std::int64_t count, std::span<const std::size_t> parts);
[[nodiscard]] Weight columnsAt(const Weight& weight, std::int64_t count, std::span<const std::size_t> parts);

/// y = x·Wᵀ (+ b) in the compute's activation type; of factors as two products, (x·vᵀ)·uᵀ.
[[nodiscard]] at::Tensor linear(const Compute& compute, const at::Tensor& x, const Weight& weight,
                                const at::Tensor& bias = {});

/// ‖u·v‖_F² = Σ (uᵀu) ∘ (v·vᵀ), of two matrices [rank, rank]: a scalar. Differentiable.
[[nodiscard]] at::Tensor squaredNorm(const Weight& factors);

} // namespace residua::engine
