// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"

#include <ATen/core/Tensor.h>

namespace residua::engine {

/// The objective on a batch, a scalar in at least single precision; see projects::Objective for the formulas.
[[nodiscard]] at::Tensor objective(projects::Objective objective, const at::Tensor& output, const at::Tensor& target);

} // namespace residua::engine
