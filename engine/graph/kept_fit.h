// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lowrank/low_rank_fit.h"
#include "projects/base/result.h"

#include <filesystem>
#include <functional>
#include <string>

namespace residua::engine {

/// As fitLowRank, but a fit of the same problem that `folder` keeps (fit_cache.h) is read instead, and one that it
/// lacks is kept there; an empty `folder` keeps none. What is wrong with the folder is told to `fault`, and is no
/// error. Any thread.
[[nodiscard]] Result<LowRankFit> fitKept(const LowRankProblem& problem, LowRankMethod method,
                                         const std::filesystem::path& folder, const LowRankWatch& watch,
                                         const std::function<void(std::string)>& fault);

} // namespace residua::engine
