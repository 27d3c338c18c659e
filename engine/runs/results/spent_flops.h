// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "engine/runs/results/run_reader.h"
#include "projects/cost/cost.h"
#include "projects/cost/stage_cost.h"
#include "projects/model/project.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace residua::engine {

/// Metric: the training FLOP of a run's steps so far, including the runs before it. Recorded when a run continues from
/// another run's checkpoint, because the earlier steps had another cost.
inline constexpr const char* kSpentFlops = "flops";

/// The training FLOP spent by a run: the recorded FLOP of earlier projects' steps, followed by the cost of the run's
/// own project.
struct SpentFlops {
    double perUnit = 0;                     ///< per token or sample through the whole network; 0: unknown
    projects::FlopCourse course = {};       ///< how the schedule reduces them
    std::vector<MetricPoint> recorded = {}; ///< kSpentFlops, ascending
    /// The first step whose cost is known: 0, or the step at which a run continued from weights of unknown cost.
    std::int64_t since = 0;
    bool isWhole = true; ///< false if the run began with weights of unknown cost

    /// Returns the FLOP of the first `step` steps, which saw `units` units.
    [[nodiscard]] double at(double step, double units) const;
};

/// Returns the FLOP of a run with this project and cost. Reads the store and, if an older program recorded nothing, the
/// parent run. Blocking; any thread.
[[nodiscard]] SpentFlops spentFlopsOf(const RunReader& run, const projects::Project& project,
                                      const projects::CostReport& cost);
/// Returns the value of kSpentFlops for a run that continues from `run` at a step, with the same project or another.
/// Returns nullopt if the cost of some steps is unknown, so that a later call tries again.
[[nodiscard]] std::optional<MetricPoint> spentFlopsAt(const RunReader& run, std::int64_t step, bool sameProject);

} // namespace residua::engine
