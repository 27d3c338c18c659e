// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace residua::engine {

/// Returns `x` [examples, …] with elements set to 0 with probability `rate` (0 ≤ rate < 1) and the others divided by
/// 1 − rate. Differentiable.
///
/// Which elements are dropped depends on the step's key, `stream` and the example alone (kernels/dropout.h), and not on
/// how a step's examples are divided into batches or processes. `draws` is int64 [2] on x's device: the step's key and
/// the number of the first example among those of the step. It must not change before the backward.
[[nodiscard]] at::Tensor dropout(const at::Tensor& x, double rate, std::uint64_t stream, const at::Tensor& draws);

} // namespace residua::engine
