// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lowrank/low_rank_fit.h"
#include "projects/base/result.h"

#include <filesystem>
#include <optional>
#include <string>

namespace residua::engine {

/// Earlier fits in a folder, one file for each problem, so that the same one is not solved twice. Any thread and any
/// number of processes: a file is complete or absent.

/// The user's folder of them: residua/fits below XDG_CACHE_HOME, or below .cache in HOME. Empty where there is neither.
[[nodiscard]] std::filesystem::path userFitCache();

/// The name of the file of a problem's fit: of a digest of all that the fit depends on, which is the weight, the rank,
/// what follows, the covariance, the seed, the course, the method and, where it starts from them, the draws.
[[nodiscard]] std::string fitFileName(const LowRankProblem& problem, LowRankMethod method);

/// The fit that the file holds; nullopt where there is none. Errors where it is damaged or holds another problem's.
[[nodiscard]] Result<std::optional<LowRankFit>> readFit(const std::filesystem::path& file,
                                                        const LowRankProblem& problem);
/// Makes the folder where it is not there.
[[nodiscard]] Status writeFit(const std::filesystem::path& file, const LowRankProblem& problem, const LowRankFit& fit);

} // namespace residua::engine
