// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze/analyze.h"

#include "engine/runs/results/run_reader.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

namespace residua::cli {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// The recorded values of a run by the name of their series.
struct RunMetrics {
    std::string run; ///< the directory as given
    std::string name;
    std::vector<std::pair<std::string, std::vector<engine::MetricPoint>>> series;
};

/// Returns the run's metrics, or those of all runs in the folder.
Result<std::vector<RunMetrics>> metricsOf(const fs::path& subject)
{
    std::vector<fs::path> directories{subject};
    std::error_code ignored;
    if (!engine::RunReader::open(subject) && fs::is_directory(subject, ignored)) {
        const auto runs = engine::listRuns(subject);
        directories.clear();
        for (auto run = runs.rbegin(); run != runs.rend(); ++run) { // oldest first
            directories.emplace_back(run->directory);
        }
    }
    std::vector<RunMetrics> all;
    for (const fs::path& directory : directories) {
        const auto reader = engine::RunReader::open(directory);
        const auto info = RESIDUA_TRY(reader ? reader->info() : Result<engine::RunInfo>(reader.error()));
        RunMetrics run{directory.string(), info.name, {}};
        for (const std::string& name : reader->metricNames()) {
            run.series.emplace_back(name, reader->metric(name));
        }
        all.push_back(std::move(run));
    }
    if (all.empty()) {
        return Error{subject.string(), "holds no run"};
    }
    return all;
}

std::string csvOf(const std::vector<RunMetrics>& runs)
{
    std::ostringstream csv;
    csv.precision(17);
    csv << "run,name,metric,step,value\n";
    for (const RunMetrics& run : runs) {
        for (const auto& [metric, points] : run.series) {
            for (const engine::MetricPoint& point : points) {
                csv << csvField(run.run) << ',' << csvField(run.name) << ',' << csvField(metric) << ',' << point.step
                    << ',' << point.value << '\n';
            }
        }
    }
    return csv.str();
}

} // namespace

Exit runMetrics(const Arguments& arguments, const Console& console)
{
    std::vector<RunMetrics> runs;
    for (const std::string& subject : arguments.positionals(0)) {
        std::vector<RunMetrics> found = RESIDUA_TRY_OR_FAIL(Exit::RunFailed, metricsOf(subject));
        std::ranges::move(found, std::back_inserter(runs));
    }
    if (arguments.has("output")) {
        const std::string path = arguments.text("output");
        return deliver({path, csvOf(runs), "csv"},
                       "wrote " + path + ": the metrics of " + std::to_string(runs.size()) +
                           (runs.size() == 1 ? " run" : " runs"),
                       {{"output", path}, {"runs", runs.size()}}, console);
    }
    std::vector<std::vector<std::string>> rows{{"run", "metric", "values", "last step", "last value"}};
    json list = json::array();
    for (const RunMetrics& run : runs) {
        json metrics = json::object();
        for (const auto& [metric, points] : run.series) {
            if (points.empty()) {
                continue;
            }
            json values = json::array();
            for (const engine::MetricPoint& point : points) {
                values.push_back({point.step, point.value});
            }
            metrics[metric] = std::move(values);
            rows.push_back({run.run, metric, groupedText(static_cast<std::int64_t>(points.size())),
                            groupedText(points.back().step), lossText(points.back().value)});
        }
        list.push_back({{"run", run.run}, {"name", run.name}, {"metrics", std::move(metrics)}});
    }
    console.line(console.table(rows));
    console.value(list);
    return Exit::Ok;
}

} // namespace residua::cli
