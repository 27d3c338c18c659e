// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

namespace residua::engine {

/// The products of a linear layer, through whichever of LibTorch's two libraries is faster for them: MKL has no AVX-512
/// path for processors that are not Intel's, oneDNN makes its own and leads there by 8 to 12 % (gemm of 2048 rows,
/// widths 256 to 1408, fp32). Results differ between the two by rounding only; on one machine the choice is fixed by
/// the shapes. Neither is differentiable.

/// x·Wᵀ. `x` [N, k], `weight` [n, k], any strides.
[[nodiscard]] at::Tensor timesTransposed(const at::Tensor& x, const at::Tensor& weight);
/// y·W. `y` [N, n], `weight` [n, k], any strides.
[[nodiscard]] at::Tensor times(const at::Tensor& y, const at::Tensor& weight);

} // namespace residua::engine
