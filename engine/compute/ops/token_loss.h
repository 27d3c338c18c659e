// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace residua::engine {

/// Returns the number of rows of `logits` [..., V] for which tokenLoss() needs at most 1 GB beside the logits; at least
/// one.
[[nodiscard]] std::int64_t tokenLossRows(const at::Tensor& logits);

/// Returns the mean cross entropy of `logits` [..., V] against the tokens `target` [...] (int32 or int64, each below
/// V), in at least single precision: []. Differentiable once, by the logits.
///
/// Computes `rows` rows at a time. If a gradient is needed, computes it in the same pass, in the logits' type, and the
/// backward only scales it. The gradient overwrites the logits if the caller moves them here and they have no other
/// owner.
[[nodiscard]] at::Tensor tokenLoss(at::Tensor logits, const at::Tensor& target, std::int64_t rows);

} // namespace residua::engine
