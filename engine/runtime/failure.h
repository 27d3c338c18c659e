// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/failure.h"

namespace residua::engine {

/// attemptStandard(), for work that uses LibTorch or CUDA too.
[[nodiscard]] std::optional<Failure> attempt(const std::function<void()>& work);

} // namespace residua::engine
