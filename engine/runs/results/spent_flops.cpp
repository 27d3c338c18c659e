// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/spent_flops.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace residua::engine {
namespace {

/// Returns the points without decreasing values, which a damaged record may have.
std::vector<MetricPoint> ascending(const std::vector<MetricPoint>& points)
{
    std::vector<MetricPoint> kept;
    for (const MetricPoint& point : points) {
        if (point.value >= (kept.empty() ? 0 : kept.back().value)) { // false for NaN
            kept.push_back(point);
        }
    }
    return kept;
}

} // namespace

double SpentFlops::at(double step, double units) const
{
    if (step <= 0) {
        return 0;
    }
    const auto after = std::ranges::lower_bound(
        recorded, step, {}, [](const MetricPoint& point) { return static_cast<double>(point.step); });
    const MetricPoint before = after == recorded.begin() ? MetricPoint{} : *std::prev(after);
    const auto from = static_cast<double>(before.step);
    if (after != recorded.end()) {
        return before.value + (after->value - before.value) * (step - from) / (static_cast<double>(after->step) - from);
    }
    const double whole = projects::wholeSteps(course, step) - projects::wholeSteps(course, from);
    return before.value + perUnit * units / step * whole; // each step sees the same number of units
}

namespace {

constexpr int kMostGenerations = 100; ///< the maximum number of ancestors read; ends a circle that was written by hand

/// Returns the parent of a run: at its recorded place, or else beside the run, because both may have been moved.
Result<RunReader> parentOf(const RunInfo& info)
{
    auto parent = RunReader::open(info.parent);
    const std::filesystem::path beside =
        std::filesystem::path(info.directory).parent_path() / std::filesystem::path(info.parent).filename();
    return parent ? std::move(parent) : RunReader::open(beside);
}

std::optional<SpentFlops> spentBy(const RunReader& run, int generations);

/// Adds the cost of the run's ancestors to a run that has recorded none.
void addParent(SpentFlops& spent, const projects::Project& project, const RunInfo& info, int generations)
{
    const std::int64_t step = info.parentStep;
    const auto parent = parentOf(info);
    const auto before = parent ? parent->project() : Result<projects::Project>(parent.error());
    const auto paid = before && generations > 0 ? spentBy(*parent, generations - 1) : std::nullopt;
    if (!paid) {
        spent.recorded = {{step, 0}};
        spent.since = step;
        spent.isWhole = false;
        return;
    }
    spent.since = paid->since;
    spent.isWhole = spent.isWhole && paid->isWhole;
    if (*before == project) {
        spent.recorded = paid->recorded;
        std::erase_if(spent.recorded, [step](const MetricPoint& point) { return point.step > step; });
    } else {
        const auto units = parent->lastPoint(metric::kUnits, step);
        spent.recorded = {{step, paid->at(static_cast<double>(step), units ? units->value : 0)}};
    }
}

SpentFlops spentBy(const RunReader& run, const projects::Project& project, const projects::CostReport& cost,
                   int generations)
{
    SpentFlops spent{cost.total.trainFlops, projects::flopCourseOf(project, cost), ascending(run.metric(kSpentFlops))};
    const std::vector<RunEvent> events = run.events();
    spent.isWhole = std::ranges::find(events, RunEventKind::Imported, &RunEvent::kind) == events.end();
    const auto info = run.info();
    if (info && !info->parent.empty() && spent.recorded.empty()) {
        addParent(spent, project, *info, generations);
    }
    return spent;
}

std::optional<SpentFlops> spentBy(const RunReader& run, int generations)
{
    const auto project = run.project();
    const auto cost = project ? projects::costOf(*project) : Result<projects::CostReport>(project.error());
    return cost ? std::optional(spentBy(run, *project, *cost, generations)) : std::nullopt;
}

} // namespace

SpentFlops spentFlopsOf(const RunReader& run, const projects::Project& project, const projects::CostReport& cost)
{
    return spentBy(run, project, cost, kMostGenerations);
}

std::optional<MetricPoint> spentFlopsAt(const RunReader& run, std::int64_t step, bool sameProject)
{
    const auto spent = spentBy(run, kMostGenerations);
    const auto units = run.lastPoint(metric::kUnits, step);
    if (!spent || !units || spent->since != 0) {
        return std::nullopt;
    }
    const std::vector<MetricPoint>& recorded = spent->recorded;
    if (sameProject && (recorded.empty() || recorded.back().step <= step)) {
        return recorded.empty() ? MetricPoint{} : recorded.back(); // the later steps have the branch's own cost
    }
    return MetricPoint{step, spent->at(static_cast<double>(step), units->value)};
}

} // namespace residua::engine
