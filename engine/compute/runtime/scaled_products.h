// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from compute.h, because host_path.h needs nothing else of it.

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

namespace residua::engine {

/// The types in which linear layers multiply.
enum class Products {
    Own,      ///< those of the operands
    EightBit, ///< float8, if the sizes allow; gradients of weights in the operands' own type
};

/// The types of float8: three bits after the point for values and weights, two and a larger range for gradients.
inline constexpr at::ScalarType kEightBitValue = at::kFloat8_e4m3fn;
inline constexpr at::ScalarType kEightBitGradient = at::kFloat8_e5m2;

/// Keeps with a bfloat16 `x` the largest magnitude of each of its rows [N], as a kernel has stored them beside it,
/// until something writes to x. scaledProduct() then need not read x for them. Views of x do not have them; reshaped()
/// does.
void noteLargest(const at::Tensor& x, const at::Tensor& largest);
/// Returns `x` in another shape, with what noteLargest() keeps.
[[nodiscard]] at::Tensor reshaped(const at::Tensor& x, at::IntArrayRef shape);

/// True if the product of a [N, k] and the transpose of b [n, k] can be computed in float8: both are bfloat16, and n
/// and k are multiples of 16.
[[nodiscard]] bool multipliesInEightBits(const at::Tensor& a, const at::Tensor& b);

/// Returns a·bᵀ in bfloat16, of a rounded to `type` and b rounded to kEightBitValue. Each is multiplied by a power of
/// two before it is rounded, so that its largest value is at most that of the type and more than a quarter of it. On
/// the CPU the rounded values are multiplied in float, which gives the same up to the order of sums. Not
/// differentiable.
[[nodiscard]] at::Tensor scaledProduct(const at::Tensor& a, at::ScalarType type, const at::Tensor& b);

} // namespace residua::engine
