// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/pass.h"

#include <ATen/core/Tensor.h>

#include <functional>

namespace residua::engine {

/// A term that is added to the objective in training: a scalar on the device, of the parameters, of the pass and of
/// what it has made of them; its factor is in it.
struct Regulariser {
    std::function<at::Tensor(const Pass& pass)> term;
};

} // namespace residua::engine
