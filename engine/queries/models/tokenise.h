// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "engine/queries/base/query.h"

#include <memory>

namespace residua::engine {

/// A tokeniser that is learned from text, on a thread of its own. Engine thread.
[[nodiscard]] std::unique_ptr<Query> queryFor(const TokeniserRequest& request);

} // namespace residua::engine
