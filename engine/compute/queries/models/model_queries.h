// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "engine/compute/queries/base/query.h"

#include <memory>

namespace residua::engine {

/// Exports a checkpoint as code or as a model of transformers, into a folder. Engine thread.
[[nodiscard]] std::unique_ptr<Query> queryFor(const ExportRequest& request);

/// Imports a model of transformers as a project with a run at step 0. Engine thread.
[[nodiscard]] std::unique_ptr<Query> queryFor(const ImportRequest& request);

/// Loads a safetensors file as the first weights of a project's run, as far as it matches. Engine thread.
[[nodiscard]] std::unique_ptr<Query> queryFor(const LoadWeightsRequest& request);

/// Trains a tokeniser on text, on a separate thread. Engine thread.
[[nodiscard]] std::unique_ptr<Query> queryFor(const TokeniserRequest& request);

} // namespace residua::engine
