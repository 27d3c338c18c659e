// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "engine/queries/base/query.h"

#include <memory>

namespace residua::engine {

/// Trains a tokeniser on text, on a separate thread. Engine thread.
[[nodiscard]] std::unique_ptr<Query> queryFor(const TokeniserRequest& request);

} // namespace residua::engine
