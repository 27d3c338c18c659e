// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "engine/queries/base/query.h"

#include <memory>

namespace residua::engine {

/// Loads a safetensors file as the first weights of a project's run, as far as it matches. Engine thread.
[[nodiscard]] std::unique_ptr<Query> queryFor(const LoadWeightsRequest& request);

} // namespace residua::engine
