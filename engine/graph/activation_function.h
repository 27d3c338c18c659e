// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

namespace residua::engine {

using ActivationFunction = at::Tensor (*)(const at::Tensor& x);

/// What an activation of projects/nodes/activations.h computes, elementwise, of any shape; nullptr for a name that is
/// none of those.
[[nodiscard]] ActivationFunction activationFunction(std::string_view name);

} // namespace residua::engine
