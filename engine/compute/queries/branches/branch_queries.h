// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "engine/compute/queries/base/query.h"

#include <memory>

namespace residua::engine {

/// Makes a run with factors that approximate another run's learned weights. Engine thread.
[[nodiscard]] std::unique_ptr<Query> queryFor(const FactoriseRequest& request);

/// Makes a run with another run's weights under another topology, after checking that the function is the same. Engine
/// thread.
[[nodiscard]] std::unique_ptr<Query> queryFor(const RetrofitRequest& request);

} // namespace residua::engine
