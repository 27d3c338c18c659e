// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace residua::engine {

/// Rows of `logits` [..., V] for which tokenLoss() needs at most 1 GB beside the logits; at least one.
[[nodiscard]] std::int64_t tokenLossRows(const at::Tensor& logits);

/// The mean cross entropy of `logits` [..., V] against the tokens `target` [...] (int32 or int64, each below V), in at
/// least single precision: []. Differentiable once, by the logits.
///
/// Computes `rows` rows at a time. Where a gradient is wanted it is computed in the same pass, in the logits' type, and
/// the backward only scales it. It overwrites the logits if the caller moves them here and nothing else holds them.
[[nodiscard]] at::Tensor tokenLoss(at::Tensor logits, const at::Tensor& target, std::int64_t rows);

} // namespace residua::engine
