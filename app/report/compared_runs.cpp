// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/compared_runs.h"

#include "app/report/html_text.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/spent_flops.h"
#include "projects/cost/cost.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace residua::report {

const std::vector<engine::MetricPoint>& ComparedRun::metric(const std::string& name) const
{
    static const std::vector<engine::MetricPoint> kNone;
    const auto found = metrics.find(name);
    return found == metrics.end() ? kNone : found->second;
}

ComparedRuns readRuns(std::span<const engine::RunInfo> listed)
{
    std::vector<ComparedRun> runs;
    std::vector<std::string> faults;
    for (const engine::RunInfo& info : listed) {
        const std::filesystem::path directory = info.directory;
        const auto reader = engine::RunReader::open(directory);
        const auto project = reader ? reader->project() : Result<projects::Project>(reader.error());
        if (!project) {
            faults.push_back(directory.filename().string() + ": " + withoutPlaces(project.error().text(), directory));
            continue;
        }
        ComparedRun run{directory.filename().string(), info, withoutPlaces(*project)};
        for (const std::string& name : reader->metricNames()) {
            if (engine::isRating(name) || name == engine::metric::kSeconds) {
                run.metrics[name] = reader->metric(name);
            }
        }
        run.degrees = degreeErrors(*reader);
        if (auto gap = reader->gap(); gap) {
            run.gap = *std::move(gap); // a damaged record is among the reader's faults
        }
        if (run.metric(engine::metric::kLoss).empty()) {
            run.info.values.erase(engine::metric::kLoss); // it has no step yet
        }
        for (const Error& fault : reader->faults()) {
            faults.push_back(run.label + ": " + withoutPlaces(fault.text(), directory));
        }
        if (const auto cost = projects::costOf(*project)) {
            run.parameters = cost->total.parameters;
            const engine::SpentFlops spent = engine::spentFlopsOf(*reader, *project, *cost);
            const auto units = reader->lastPoint(engine::metric::kUnits, info.step);
            run.flops = units ? spent.at(static_cast<double>(units->step), units->value) : 0;
            run.isCostWhole = spent.isWhole;
        }
        runs.push_back(std::move(run));
    }
    std::ranges::sort(runs, {}, &ComparedRun::label);
    std::ranges::sort(faults);
    return {std::move(runs), std::move(faults)};
}

} // namespace residua::report
