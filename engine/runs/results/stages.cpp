// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/stages.h"

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

std::vector<StageRecord> stageStarts(const std::vector<RunEvent>& events)
{
    std::map<std::int64_t, std::string> found;
    for (const RunEvent& event : events) {
        if (event.kind == RunEventKind::Stage) {
            found.erase(found.lower_bound(event.step), found.end());
            found[event.step] = event.text;
        }
    }
    std::vector<StageRecord> stages;
    for (const auto& [step, text] : found) {
        stages.push_back(stageFrom(text));
        stages.back().step = step;
    }
    if (stages.size() > kMostStages) {
        stages.erase(stages.begin(), stages.end() - static_cast<std::ptrdiff_t>(kMostStages));
    }
    return stages;
}

std::vector<StageRecord> stageRecords(const RunReader& run)
{
    std::vector<StageRecord> stages = stageStarts(run.events());
    for (const auto& [name, loss] : kStageMetrics) {
        for (const MetricPoint& point : stages.empty() ? std::vector<MetricPoint>() : run.metric(name)) {
            const auto stage = std::ranges::find(stages, point.step, &StageRecord::step);
            if (stage != stages.end()) {
                (*stage).*loss = point.value;
            }
        }
    }
    return stages;
}

std::vector<StageTransition> stageTransitions(const std::vector<StageRecord>& stages, std::span<const double> steps,
                                              std::span<const double> losses, std::span<const double> seconds,
                                              std::span<const double> flops)
{
    /// Returns the number of steps up to and including `step`, after which a stage begins.
    const auto doneBy = [&](std::int64_t step) {
        return static_cast<std::size_t>(std::ranges::upper_bound(steps, static_cast<double>(step)) - steps.begin());
    };
    /// Returns the amount added in the steps [from, to); `sums` are cumulative.
    const auto between = [](std::span<const double> sums, std::size_t from, std::size_t to) {
        return sums[to - 1] - (from == 0 ? 0.0 : sums[from - 1]);
    };
    const auto shareOf = [&](std::span<const double> sums, std::size_t from, std::size_t to) {
        return sums.back() > 0 ? between(sums, from, to) / sums.back() : kNoLoss;
    };
    std::vector<StageTransition> transitions;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const StageRecord& stage = stages[i];
        StageTransition& row = transitions.emplace_back();
        row.step = stage.step;
        row.name = stage.name;
        row.note = stage.note;
        row.validationBefore = stage.validationBefore;
        row.validationAfter = stage.validationAfter;
        const std::size_t first = doneBy(stage.step);
        if (stage.step > 0) {
            const std::size_t back = std::min(kMeanSteps, first);
            const std::size_t ahead = std::min(kMeanSteps, steps.size() - first);
            row.before =
                std::isnan(stage.trainBefore) ? meanLoss(losses.subspan(first - back, back)) : stage.trainBefore;
            row.after = std::isnan(stage.trainAfter) ? meanLoss(losses.subspan(first, ahead)) : stage.trainAfter;
        }
        const std::size_t end = i + 1 < stages.size() ? doneBy(stages[i + 1].step) : steps.size();
        row.steps = static_cast<std::int64_t>(end > first ? end - first : 0);
        if (row.steps > 0 && !seconds.empty()) {
            row.secondsPerStep = between(seconds, first, end) / static_cast<double>(row.steps);
            row.shareOfTime = shareOf(seconds, first, end);
        }
        if (row.steps > 0 && !flops.empty()) {
            row.shareOfFlop = shareOf(flops, first, end);
        }
    }
    return transitions;
}

} // namespace residua::engine
