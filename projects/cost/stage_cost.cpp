// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/cost/stage_cost.h"

#include "projects/schedule/stage_schedule.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace residua::projects {
namespace {

double shareOfSpan(const Project& project, const CostReport& report, const StageSpan& span)
{
    if (span.stage == StageSpan::kFull) {
        return 1;
    }
    const Stage& stage = project.schedule.stages[span.stage];
    const auto depth = static_cast<std::int64_t>(report.layers.size());
    const double keep = keepProbability(stage, depth);
    double spared = 0;
    for (std::int64_t layer = 1; layer <= depth; ++layer) {
        if (!std::ranges::binary_search(stage.always, layer)) {
            spared += (1 - keep) * report.layers[static_cast<std::size_t>(layer - 1)].trainFlops;
        }
    }
    return report.total.trainFlops > 0 ? 1 - spared / report.total.trainFlops : 1;
}

} // namespace

double expectedFlopShare(const Project& project, const CostReport& report)
{
    const std::int64_t steps = project.training.steps;
    double sum = 0;
    for (const StageSpan& span : spansOf(project.schedule, project.network.depth(), steps)) {
        sum += shareOfSpan(project, report, span) * static_cast<double>(span.to - span.from);
    }
    return steps > 0 ? sum / static_cast<double>(steps) : 1;
}

} // namespace residua::projects
