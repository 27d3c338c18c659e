// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace residua::engine {

/// Doubly stochastic matrices exp(logits), made so by dividing `iterations` times the rows, then the columns, by their
/// sums (Sinkhorn and Knopp; mHC eq. 9): columns sum to 1 exactly, rows as nearly as it has converged. `logits` [n, n,
/// ...] holds matrices [in, out] side by side. Keeps nothing but the logits for the backward pass, which runs the
/// iterations again.
[[nodiscard]] at::Tensor sinkhorn(const at::Tensor& logits, std::int64_t iterations);

} // namespace residua::engine
