// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "engine/queries/base/query.h"

#include <memory>

namespace residua::engine {

/// Exports a checkpoint as code or as a model of transformers, into a folder. Engine thread.
[[nodiscard]] std::unique_ptr<Query> queryFor(const ExportRequest& request);

} // namespace residua::engine
