// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

namespace residua::engine {

using ActivationFunction = at::Tensor (*)(const at::Tensor& x);

/// Returns the elementwise function of an activation in projects/nodes/activations.h, for tensors of any shape; nullptr
/// for an unknown name.
[[nodiscard]] ActivationFunction activationFunction(std::string_view name);

} // namespace residua::engine
