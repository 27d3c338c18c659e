// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "engine/compute/queries/base/query.h"

#include <memory>

namespace residua::engine {

/// Queries on the network of a checkpoint, which they load. Engine thread.
[[nodiscard]] std::unique_ptr<Query> queryFor(const SampleRequest& request);
[[nodiscard]] std::unique_ptr<Query> queryFor(const EvaluateRequest& request);
[[nodiscard]] std::unique_ptr<Query> queryFor(const StabilityRequest& request);

/// Measures the errors of factored weights against the full ones. Its fits have threads of their own. Engine thread.
[[nodiscard]] std::unique_ptr<Query> queryFor(const GapRequest& request);

} // namespace residua::engine
