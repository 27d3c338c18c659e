// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

namespace residua::engine {

/// A term that is added to the objective in training.
struct Regulariser {
    std::string name;
    /// A scalar on the device, of the parameters and of what the last pass has made of them; its factor is in it.
    std::function<at::Tensor()> term;
};

} // namespace residua::engine
