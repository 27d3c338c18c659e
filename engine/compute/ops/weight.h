// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/ops/fused.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace residua::engine {

/// The weight of a product, [out, in], or of a convolution, [out, in, …]: the full weight, or factors u·v, whose
/// product is never computed. To that of a product, a visit of a loop may add a product of its own.
struct Weight {
    at::Tensor whole;       ///< undefined if it is in factors
    at::Tensor u;           ///< [out, rank], or by side of a kernel [out · kernel, rank]
    at::Tensor v;           ///< [rank, in, …]
    at::Tensor addedU = {}; ///< [out, rank] of what the visit adds; undefined: nothing
    at::Tensor addedV = {}; ///< [rank, in]

    [[nodiscard]] bool factored() const { return u.defined(); }
    /// True if the full weight is all.
    [[nodiscard]] bool isPlain() const { return !factored() && !addedU.defined(); }
    /// Returns the factor of what the visit adds that has the rows (0) or the columns (1) of the weight.
    [[nodiscard]] const at::Tensor& adapter(std::int64_t dimension) const { return dimension == 0 ? addedU : addedV; }
    /// Returns the parameter that identifies the weight: the full weight, or u.
    [[nodiscard]] const at::Tensor& parameter() const { return factored() ? u : whole; }
    [[nodiscard]] std::int64_t out() const { return parameter().size(0); }
    [[nodiscard]] std::int64_t in() const { return factored() ? v.size(1) : whole.size(1); }
};

/// Divides the weight's rows or columns into `count` parts of equal length and returns a weight with the ones in
/// `parts` (part_selection.h).
[[nodiscard]] Weight rowsAt(const Weight& weight, std::int64_t count, std::span<const std::size_t> parts);
[[nodiscard]] Weight columnsAt(const Weight& weight, std::int64_t count, std::span<const std::size_t> parts);

/// Returns y = x·Wᵀ (+ b) in the compute's activation type; for factors by two products, (x·vᵀ)·uᵀ.
[[nodiscard]] at::Tensor linear(const Compute& compute, const at::Tensor& x, const Weight& weight,
                                const at::Tensor& bias = {});

/// Returns ‖u·v‖_F² = Σ (uᵀu) ∘ (v·vᵀ), from two matrices [rank, rank], as a scalar. Differentiable.
[[nodiscard]] at::Tensor squaredNorm(const Weight& factors);

} // namespace residua::engine
