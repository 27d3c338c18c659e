// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace residua::engine {

/// Returns doubly stochastic matrices: exp(logits) with the rows, then the columns, divided `iterations` times by their
/// sums (Sinkhorn and Knopp; mHC eq. 9). Columns sum to 1 exactly, rows up to convergence. `logits` [n, n, ...] holds
/// matrices [in, out] along the further dimensions. Saves only the logits for the backward, which repeats the
/// iterations. On a GPU with the CUDA kernels, float32 matrices that these support (kernels/sinkhorn.h) take one kernel
/// each way.
[[nodiscard]] at::Tensor sinkhorn(const at::Tensor& logits, std::int64_t iterations);

} // namespace residua::engine
