// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace residua::engine {

/// Returns independent draws from N(0, 1) [examples, width] in double, as a function of the step's key, `stream` and
/// the example alone, as of dropout(). Not differentiable.
[[nodiscard]] at::Tensor normalDraws(std::int64_t examples, std::int64_t width, std::uint64_t stream,
                                     const at::Tensor& draws);

} // namespace residua::engine
