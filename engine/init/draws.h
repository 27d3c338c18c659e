// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/random.h"

#include <ATen/core/Tensor.h>

namespace residua::engine {

/// Numbers by the counters 0, 1, … of a stream, in double on the host: the same bits on any number of threads.

/// Returns standard normal numbers (Box and Muller).
[[nodiscard]] at::Tensor drawNormal(at::IntArrayRef shape, const Philox& random);
/// Returns numbers uniform on (−1, 1).
[[nodiscard]] at::Tensor drawSymmetric(at::IntArrayRef shape, const Philox& random);

} // namespace residua::engine
