// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/results/stages.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace residua::engine {
namespace {

constexpr std::size_t kMeanSteps = 10;
constexpr std::size_t kMostStages = 1000; ///< each is drawn in every plot

double meanLoss(std::span<const double> losses)
{
    double sum = 0;
    int count = 0;
    for (const double loss : losses) {
        if (std::isfinite(loss)) {
            sum += loss;
            ++count;
        }
    }
    return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

} // namespace

std::vector<StageStart> stageStarts(const std::vector<RunEvent>& events)
{
    std::map<std::int64_t, std::string> found;
    for (const RunEvent& event : events) {
        if (event.kind == RunEventKind::Stage) {
            found.erase(found.lower_bound(event.step), found.end());
            found[event.step] = event.text;
        }
    }
    std::vector<StageStart> stages;
    for (const auto& [step, name] : found) {
        stages.push_back({step, name});
    }
    if (stages.size() > kMostStages) {
        stages.erase(stages.begin(), stages.end() - static_cast<std::ptrdiff_t>(kMostStages));
    }
    return stages;
}

std::vector<StageTransition> stageTransitions(const std::vector<StageStart>& stages, std::span<const double> steps,
                                              std::span<const double> losses)
{
    std::vector<StageTransition> transitions;
    for (const StageStart& stage : stages) {
        if (stage.step <= 0) {
            continue;
        }
        const auto after = std::upper_bound(steps.begin(), steps.end(), static_cast<double>(stage.step));
        const auto first = static_cast<std::size_t>(after - steps.begin());
        const std::size_t back = std::min(kMeanSteps, first);
        const std::size_t ahead = std::min(kMeanSteps, steps.size() - first);
        transitions.push_back({stage.step, stage.name, meanLoss(losses.subspan(first - back, back)),
                               meanLoss(losses.subspan(first, ahead))});
    }
    return transitions;
}

} // namespace residua::engine
