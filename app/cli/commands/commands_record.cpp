// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/engine_client.h"
#include "app/cli/terminal/console.h"
#include "app/report/report.h"
#include "engine/base/api/environment.h"
#include "engine/base/api/metric_traits.h"
#include "engine/runs/results/loss_measures.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/text.h"
#include "projects/file/store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace residua::cli {
namespace {

using nlohmann::json;

/// Returns a run's path relative to the folder, which distinguishes members of different sweeps.
std::string pathWithin(const std::filesystem::path& folder, const engine::RunInfo& run)
{
    const std::filesystem::path directory = run.directory;
    const std::filesystem::path within = directory.lexically_relative(folder);
    return (within.empty() ? directory.filename() : within).string();
}

/// Returns perplexity and bits per byte of a run's last loss, preferably the validation loss.
std::optional<engine::LossMeasures> measuresOf(const engine::RunInfo& run, const engine::RunReader& reader)
{
    const auto project = reader.project();
    return project ? engine::measuresOf(*project, run.rating("loss")) : std::nullopt;
}

/// Returns the last loss of the run in this directory. Returns an error if it cannot be read or there is no loss yet.
Result<double> lossOf(const std::string& directory)
{
    const auto run = engine::RunReader::open(directory);
    const std::optional<Error> unread = run ? run->storeError() : run.error();
    if (unread) {
        return Error{"--until", unread->place + " " + unread->message + "; expected a run's directory"};
    }
    const std::vector<engine::MetricPoint> losses = run->judgedPoints();
    if (losses.empty()) {
        return Error{"--until", directory + " has no losses yet; expected a run that has trained"};
    }
    return losses.back().value;
}

/// A run as a row of the table, and as JSON.
struct ListedRun {
    std::vector<std::string> cells;
    json value;
};

/// Adds the last columns: the step and the seconds at which the run first was at `target` or better.
void addUntil(ListedRun& listed, const Result<engine::RunReader>& reader, double target, const projects::Judge& judge)
{
    std::vector<std::string> cells{"not yet", "–"};
    const auto until =
        reader ? engine::firstReached(reader->judgedPoints(), target, reader->metric(engine::metric::kSeconds), judge)
               : std::nullopt;
    if (until) {
        cells[0] = groupedText(until->step);
        listed.value["untilStep"] = until->step;
        if (until->seconds) {
            cells[1] = lossText(*until->seconds);
            listed.value["untilSeconds"] = *until->seconds;
        }
    }
    listed.cells.insert(listed.cells.end(), cells.begin(), cells.end());
}

ListedRun listedRun(const std::string& path, const engine::RunInfo& run,
                    const std::vector<engine::MetricTraits>& columns, const std::optional<double>& target)
{
    const auto reader = engine::RunReader::open(run.directory);
    const auto measures = reader ? measuresOf(run, *reader) : std::nullopt;
    const bool bits = measures && measures->bitsPerByte;
    ListedRun listed;
    listed.cells = {path,
                    engine::textOf(run.status),
                    groupedText(run.step) + "/" + groupedText(run.steps),
                    lossText(run.loss()),
                    lossText(run.validationLoss()),
                    measures ? lossText(measures->perplexity) : "–",
                    bits ? lossText(*measures->bitsPerByte) : "–",
                    run.device,
                    run.created};
    listed.value = {{"directory", run.directory},
                    {"path", path},
                    {"name", run.name},
                    {"sweep", run.membership ? json(run.membership->sweep) : json()},
                    {"member", run.membership ? json(run.membership->label()) : json()},
                    {"status", engine::textOf(run.status)},
                    {"message", run.message},
                    {"step", run.step},
                    {"steps", run.steps},
                    {"loss", run.loss()},
                    {"validationLoss", run.validationLoss()},
                    {"values", run.values},
                    {"perplexity", measures ? json(measures->perplexity) : json()},
                    {"bitsPerByte", bits ? json(*measures->bitsPerByte) : json()},
                    {"untilStep", json()},
                    {"untilSeconds", json()},
                    {"device", run.device},
                    {"created", run.created}};
    for (const engine::MetricTraits& column : columns) {
        listed.cells.push_back(lossText(run.last(column.name)));
    }
    if (target) {
        addUntil(listed, reader, *target, run.judge());
    }
    return listed;
}

Exit runRuns(const Arguments& arguments, const Console& console)
{
    std::optional<double> target; // the loss that the runs are compared with
    if (const std::string named = arguments.text("until"); !named.empty()) {
        const Result<double> loss = lossOf(named);
        if (!loss) {
            return console.fail(Exit::Usage, loss.error());
        }
        target = *loss;
    }
    std::filesystem::path folder = arguments.positional(0);
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) {
        return console.fail(Exit::Usage, {folder.string(), "is no folder; expected a project's, or one of runs"});
    }
    if (std::filesystem::exists(folder / projects::kProjectFile, ignored)) {
        folder /= projects::kRunsFolder;
    }
    std::vector<std::vector<std::string>> rows{
        {"run", "status", "step", "loss", "validation", "perplexity", "bits/byte", "device", "created"}};
    const std::vector<engine::RunInfo> runs = engine::listRuns(folder);
    const std::vector<engine::MetricTraits> columns = engine::ratingColumns(runs);
    std::ranges::transform(columns, std::back_inserter(rows.front()), &engine::MetricTraits::title);
    if (target) {
        rows.front().insert(rows.front().end(), {"until at step", "until in s"});
    }
    std::string failures;
    json list = json::array();
    for (const engine::RunInfo& run : runs) {
        const std::string path = pathWithin(folder, run);
        ListedRun listed = listedRun(path, run, columns, target);
        rows.push_back(std::move(listed.cells));
        list.push_back(std::move(listed.value));
        if (!run.message.empty()) {
            failures += "\n" + path + " " + engine::textOf(run.status) + ": " + run.message;
        }
    }
    console.line(rows.size() > 1 ? console.table(rows) + failures : "no runs in " + folder.string());
    console.value(list);
    return Exit::Ok;
}

Exit runReport(const Arguments& arguments, const Console& console)
{
    const std::filesystem::path run = arguments.positional(0);
    const std::filesystem::path output = arguments.text("output", (run / "report.html").string());
    const auto reader = engine::RunReader::open(run);
    // A path that is not a run is a folder of runs, but not if it is a run that cannot be read.
    std::error_code ignored;
    const bool folder = !reader && !std::filesystem::exists(run / engine::kRunFile, ignored);
    const Result<std::string> page = folder   ? report::comparisonHtml(run)
                                     : reader ? report::reportHtml(*reader)
                                              : Result<std::string>(reader.error());
    if (!page) {
        return console.fail(Exit::RunFailed, page.error());
    }
    json leftOut = json::array();
    for (const Error& fault : reader ? reader->faults() : std::vector<Error>()) {
        console.remark("left out: " + fault.text());
        leftOut.push_back(fault.text());
    }
    return deliver({output, *page, "html"}, "wrote " + output.string(),
                   {{"report", output.string()}, {"leftOut", leftOut}}, console);
}

Exit runDevices(const Arguments&, const Console& console)
{
    const std::optional<engine::Event> answer = ask(engine::ListDevices{engine::QueryTag{1}}, console);
    const auto* const listed = answer ? std::get_if<engine::DevicesListed>(&*answer) : nullptr;
    if (listed == nullptr) {
        return unanswered(answer, console, "the devices are not known");
    }
    json list = json::array();
    for (const engine::DeviceInfo& device : listed->devices) {
        const std::string memory = device.totalBytes > 0
                                       ? scaledBytes(static_cast<double>(device.freeBytes)) + " free of " +
                                             scaledBytes(static_cast<double>(device.totalBytes))
                                       : "";
        const std::string kernels = kernelsText(device);
        console.line(device.key + "  " + device.name + (memory.empty() ? "" : ", " + memory) +
                     (device.usable ? "" : "  not usable: " + device.reason) + (kernels.empty() ? "" : "  " + kernels));
        list.push_back({{"key", device.key},
                        {"name", device.name},
                        {"usable", device.usable},
                        {"reason", device.reason},
                        {"withoutKernels", device.withoutKernels},
                        {"freeBytes", device.freeBytes},
                        {"totalBytes", device.totalBytes}});
    }
    console.value(list);
    return Exit::Ok;
}

} // namespace

std::vector<Command> recordCommands()
{
    return {
        {"runs",
         "list runs, the newest first",
         "residua-cli runs my-project",
         {{{"DIR", "a project's directory, or a folder of runs"}},
          {{"until", OptionKind::Text, "RUN",
            "tell at which step, and after how much training time, each run first had the last loss of this one, of "
            "validation where it has one"}}},
         &runRuns},
        {"report",
         "write a run, or a comparison of the runs in a folder, as one HTML page",
         "residua-cli report my-project/runs/first -o report.html",
         {{{"RUN", "a run's directory, or a folder of runs"}},
          {{"output", OptionKind::Text, "FILE", "the page; - is standard output (default: RUN/report.html)", "o"}}},
         &runReport},
        {"devices", "list where a run can compute", "residua-cli devices", {}, &runDevices},
    };
}

} // namespace residua::cli
