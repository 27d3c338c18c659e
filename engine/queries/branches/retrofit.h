// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "engine/queries/base/query.h"

#include <memory>

namespace residua::engine {

/// A run's weights under another topology of the same function, measured before it is written. Engine thread.
[[nodiscard]] std::unique_ptr<Query> queryFor(const RetrofitRequest& request);

} // namespace residua::engine
