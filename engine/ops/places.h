// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace residua::engine {

/// The given places of a dimension, ascending, one after another; the tensor itself where they are all of them.
/// Differentiable, and without a number that a device would have to be told.
[[nodiscard]] at::Tensor atPlaces(const at::Tensor& tensor, std::int64_t dimension,
                                  std::span<const std::size_t> places);

/// Places of `dimension` in units of equal length, of which those in `units` stay.
[[nodiscard]] at::Tensor atUnits(const at::Tensor& tensor, std::int64_t dimension, std::int64_t count,
                                 std::span<const std::size_t> units);

} // namespace residua::engine
