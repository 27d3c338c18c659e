// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Private to network_queries.cpp: the part of an evaluation that writes to a run.

#include "engine/base/api/measure_queries.h"
#include "projects/base/result.h"

#include <filesystem>
#include <string>

namespace residua::engine {

/// Records the means of an evaluation with a run, as metrics of the checkpoint's step: "<prefix><quantity>/<split>".
/// `what` says in an event what was measured. Refused while another process writes the run.
[[nodiscard]] Status recordMeans(const std::filesystem::path& runDirectory, Split split,
                                 const EvaluationReady& measured, const std::string& prefix, const std::string& what);

} // namespace residua::engine
