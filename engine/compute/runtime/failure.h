// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/failure.h"

namespace residua::engine {

/// Calls attemptStandard() for work that uses LibTorch or CUDA. After an error that ends the use of a GPU in this
/// process, the text says to restart the program (checkGpus()).
[[nodiscard]] std::optional<Failure> attempt(const std::function<void()>& work);

} // namespace residua::engine
