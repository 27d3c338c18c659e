// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/results/run_reader.h"
#include "projects/cost/cost.h"
#include "projects/cost/stage_cost.h"
#include "projects/model/project.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace residua::engine {

/// Metric: the training FLOP of a run's steps so far, the runs before it included. It is recorded where a run goes on
/// from a checkpoint of another, because the steps before that had another price.
inline constexpr const char* kSpentFlops = "flops";

/// The training FLOP of a run, as they were spent: what was recorded of the steps of other projects, and after it the
/// price of the run's own project.
struct SpentFlops {
    double perUnit = 0;                     ///< per token or sample through the whole network; 0: not known
    projects::FlopCourse course = {};       ///< what the schedule leaves of them
    std::vector<MetricPoint> recorded = {}; ///< kSpentFlops, ascending
    /// The first step whose price is known: 0, or where a run went on from weights whose cost is unknown.
    std::int64_t since = 0;
    bool isWhole = true; ///< false if the weights that the run began with have a cost that is unknown

    /// The FLOP of the first `step` steps, which saw so many units.
    [[nodiscard]] double at(double step, double units) const;
};

/// Of a run that has this project, at that price. Reads the store and, if an older program recorded nothing, the run
/// that it went on from. Blocking; any thread.
[[nodiscard]] SpentFlops spentFlopsOf(const RunReader& run, const projects::Project& project,
                                      const projects::CostReport& cost);
/// What a run that goes on from `run` at a step, with the same project or another, records as kSpentFlops; nullopt if
/// the cost of some steps is unknown, so that it is looked for again.
[[nodiscard]] std::optional<MetricPoint> spentFlopsAt(const RunReader& run, std::int64_t step, bool sameProject);

} // namespace residua::engine
