// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/stage_transitions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace residua::visualizers {
namespace {

constexpr std::ptrdiff_t kMeanSteps = 10;

template <class Iterator>
double meanLoss(Iterator from, Iterator to)
{
    double sum = 0;
    int count = 0;
    for (; from != to; ++from) {
        if (std::isfinite(from->loss)) {
            sum += from->loss;
            ++count;
        }
    }
    return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

} // namespace

std::vector<StageStart> stageStarts(const std::vector<engine::RunEvent>& events)
{
    std::map<std::int64_t, std::string> found;
    for (const engine::RunEvent& event : events) {
        if (event.kind == "stage") {
            found.erase(found.lower_bound(event.step), found.end());
            found[event.step] = event.text;
        }
    }
    std::vector<StageStart> stages;
    for (const auto& [step, name] : found) {
        stages.push_back({step, name});
    }
    return stages;
}

std::vector<StageTransition> stageTransitions(const std::vector<StageStart>& stages,
                                              const std::vector<engine::StepRecord>& steps)
{
    std::vector<StageTransition> transitions;
    for (const StageStart& stage : stages) {
        if (stage.step <= 0) {
            continue;
        }
        const auto first =
            std::upper_bound(steps.begin(), steps.end(), stage.step,
                             [](std::int64_t step, const engine::StepRecord& record) { return step < record.step; });
        const auto back = std::min<std::ptrdiff_t>(kMeanSteps, first - steps.begin());
        const auto ahead = std::min<std::ptrdiff_t>(kMeanSteps, steps.end() - first);
        transitions.push_back({stage.step, stage.name, meanLoss(first - back, first), meanLoss(first, first + ahead)});
    }
    return transitions;
}

} // namespace residua::visualizers
