// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "engine/queries/base/query.h"

#include <memory>

namespace residua::engine {

/// Imports a model of transformers as a project with a run at step 0. Engine thread.
[[nodiscard]] std::unique_ptr<Query> queryFor(const ImportRequest& request);

} // namespace residua::engine
