// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

namespace residua::engine {

/// The products of a linear layer, through whichever of LibTorch's two libraries is faster for them: MKL has no AVX-512
/// path for processors that are not Intel's, oneDNN makes its own and leads there by 8 to 12 % (gemm of 2048 rows,
/// widths 256 to 1408, fp32). Results differ between the two by rounding only; on one machine the choice is fixed by
/// the shapes. Neither is differentiable.
///
/// oneDNN multiplies bfloat16. Where the processor has no instructions for it that is done in float, which is no
/// slower.

/// a·b of host matrices in their own type.
[[nodiscard]] at::Tensor product(const at::Tensor& a, const at::Tensor& b);
/// Whether `x` is bfloat16 on the host, and multiplied as float.
[[nodiscard]] bool multipliesAsFloat(const at::Tensor& x);

/// x·Wᵀ. `x` [N, k], `weight` [n, k], any strides.
[[nodiscard]] at::Tensor timesTransposed(const at::Tensor& x, const at::Tensor& weight);
/// y·W. `y` [N, n], `weight` [n, k], any strides.
[[nodiscard]] at::Tensor times(const at::Tensor& y, const at::Tensor& weight);

} // namespace residua::engine
