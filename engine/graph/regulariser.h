// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/pass.h"

#include <ATen/core/Tensor.h>

#include <functional>

namespace residua::engine {

/// A term added to the objective in training: a scalar on the device, computed from the parameters, the pass and the
/// pass's results. Includes its factor.
struct Regulariser {
    std::function<at::Tensor(const Pass& pass)> term;
};

} // namespace residua::engine
