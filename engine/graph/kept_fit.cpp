// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/kept_fit.h"

#include "engine/graph/fit_cache.h"

#include <optional>
#include <utility>

namespace residua::engine {

Result<LowRankFit> fitKept(const LowRankProblem& problem, LowRankMethod method, const std::filesystem::path& folder,
                           const LowRankWatch& watch, const std::function<void(std::string)>& fault)
{
    if (folder.empty() || method == LowRankMethod::Baseline) { // a draw is no work
        return fitLowRank(problem, method, watch);
    }
    const std::filesystem::path file = folder / fitFileName(problem, method);
    Result<std::optional<LowRankFit>> kept = readFit(file, problem);
    if (kept && *kept) {
        return std::move(**kept);
    }
    if (!kept) {
        fault(kept.error().text() + ": fitted again");
    }
    Result<LowRankFit> fit = fitLowRank(problem, method, watch);
    if (fit) {
        if (const Status written = writeFit(file, problem, *fit); !written) {
            fault(written.error().text() + ": the fit is not kept for another time");
        }
    }
    return fit;
}

} // namespace residua::engine
