// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/engine_client.h"
#include "app/cli/runs/named_runs.h"
#include "app/cli/terminal/console.h"
#include "app/cli/terminal/terminal_text.h"
#include "app/report/report.h"
#include "engine/base/api/environment.h"
#include "engine/base/api/values.h"
#include "engine/runs/results/loss_measures.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/study_page.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"
#include "projects/file/store.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
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
        target = RESIDUA_TRY_OR_FAIL(Exit::Usage, lossOf(named));
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

/// Writes a page, whose parts `leftOut` could not be read.
Exit deliverPage(const std::filesystem::path& output, const std::string& page, const Console& console,
                 const json& leftOut = json::array())
{
    return deliver({output, page, "html"}, "wrote " + output.string(),
                   {{"report", output.string()}, {"leftOut", leftOut}}, console);
}

/// Writes a page about one run, with what could not be read of it.
Exit reportOnRun(const engine::RunReader& reader, const std::filesystem::path& output, const Console& console)
{
    const std::string page = RESIDUA_TRY_OR_FAIL(Exit::RunFailed, report::reportHtml(reader));
    json leftOut = json::array();
    for (const Error& fault : reader.faults()) {
        console.remark("left out: " + fault.text());
        leftOut.push_back(fault.text());
    }
    return deliverPage(output, page, console, leftOut);
}

/// Returns what a comparison page is about, as the arguments say.
Result<report::Comparison> comparisonOf(const Arguments& arguments)
{
    auto runs = RESIDUA_TRY(namedRuns(arguments.positionals(0), arguments.text("sweep")));
    std::error_code ignored; // on an error the page has no title
    const auto first = std::filesystem::absolute(arguments.positional(0) + "/", ignored).lexically_normal();
    const std::string sweep = arguments.text("sweep");
    return report::Comparison{.title = !sweep.empty()                         ? sweep
                                       : arguments.positionals(0).size() == 1 ? first.parent_path().filename().string()
                                                                              : countText(runs.size(), "run"),
                              .runs = runs,
                              .folder = engine::groupsFolderOf(runs.front().directory),
                              .baseline = arguments.text("baseline"),
                              .notes = arguments.text("note")};
}

/// Keeps a page in the project's folder of runs, with the view of the page that it replaces.
Status keepPage(const report::Comparison& comparison, const report::ComparisonPageText& text, const std::string& sweep,
                const std::string& name)
{
    if (!comparison.folder) {
        return Error{"--keep", "needs runs in a project's folder of runs, which keeps the page"};
    }
    const auto file = engine::pageFile(*comparison.folder, name);
    const auto before = file ? engine::readPage(*file) : Result<engine::StudyPage>(file.error());
    engine::StudyPage page = before ? *before : engine::StudyPage();
    page.runs.clear();
    page.sweep = sweep;
    page.notes = comparison.notes.empty() ? page.notes : comparison.notes;
    page.baseline = text.baselineRun.empty() ? "" : engine::pathOnPage(*comparison.folder, text.baselineRun);
    page.baselineAlone = text.baselineAlone;
    for (const engine::RunInfo& run : comparison.runs) {
        page.runs.push_back(engine::pathOnPage(*comparison.folder, run.directory));
        if (page.runs.back().empty()) {
            return Error{run.directory, "is not in " + comparison.folder->string() + ", which keeps the page"};
        }
    }
    if (!sweep.empty()) {
        page.runs.clear(); // so that the page has later members too
    }
    return engine::writePage(*comparison.folder, name, page);
}

Exit reportOnRuns(const Arguments& arguments, const std::filesystem::path& output, const Console& console)
{
    const report::Comparison comparison = RESIDUA_TRY_OR_FAIL(Exit::RunFailed, comparisonOf(arguments));
    const auto page = report::comparisonHtml(comparison);
    if (!page) {
        return console.fail(page.error().place == "--baseline" ? Exit::Usage : Exit::RunFailed, page.error());
    }
    if (const std::string name = arguments.text("keep"); !name.empty()) {
        RESIDUA_TRY_OR_FAIL(Exit::Usage, keepPage(comparison, *page, arguments.text("sweep"), name));
    }
    return deliverPage(output, page->html, console);
}

Exit runReport(const Arguments& arguments, const Console& console)
{
    const std::filesystem::path first = arguments.positional(0);
    const bool isOne = arguments.positionals(0).size() == 1;
    const bool chooses = std::ranges::any_of(std::array{"sweep", "baseline", "note", "keep"},
                                             [&](const char* each) { return arguments.has(each); });
    std::error_code ignored;
    if (engine::isPageFile(first) && isOne) {
        if (chooses) {
            return console.fail(Exit::Usage,
                                {first.string(), "is a page that was kept; expected it without options of its own"});
        }
        const std::filesystem::path output =
            arguments.text("output", (first.parent_path() / (engine::pageName(first) + ".html")).string());
        const Result<std::string> page = report::pageHtml(first);
        return page ? deliverPage(output, *page, console) : console.fail(Exit::RunFailed, page.error());
    }
    const std::filesystem::path output =
        arguments.text("output", isOne ? (first / "report.html").string() : "report.html");
    if (isOne && !chooses && std::filesystem::exists(first / engine::kRunFile, ignored)) {
        const auto reader = engine::RunReader::open(first);
        return reader ? reportOnRun(*reader, output, console) : console.fail(Exit::RunFailed, reader.error());
    }
    return reportOnRuns(arguments, output, console);
}

/// Prints the note of a group of runs, or replaces it if `note` has a text.
Exit noteOfGroup(const Arguments& arguments, const std::optional<std::string>& note, const Console& console)
{
    const auto runs = namedRuns(arguments.positionals(0), {});
    const auto folder = runs ? engine::groupsFolderOf(runs->front().directory) : std::nullopt;
    if (!runs || !folder) {
        return console.fail(Exit::Usage,
                            runs ? Error{arguments.positional(0), "is in no project, which keeps the notes of groups"}
                                 : runs.error());
    }
    std::vector<std::pair<engine::RunInfo, projects::Project>> read;
    for (const engine::RunInfo& run : *runs) {
        if (auto project = engine::readRunProject(run.directory)) {
            read.emplace_back(run, std::move(*project));
        }
    }
    const auto trained = mapped(read, [](const auto& run) { return engine::TrainedRun{&run.first, &run.second}; });
    engine::RunGroups groups = engine::groupsOf(trained);
    engine::keepColours(groups, trained, *folder);
    const auto group =
        RESIDUA_TRY_OR_FAIL(Exit::Usage, engine::groupNamed(groups, trained, arguments.text("group"), "--group"));
    const std::string key = groups.groupOf(group.runs.front()).key;
    if (note) {
        RESIDUA_TRY_OR_FAIL(Exit::RunFailed, engine::noteGroup(*folder, key, *note));
    }
    const std::string now = engine::groupNotes(*folder)[key];
    console.line(terminalText(now, console.width()));
    console.value({{"group", group.label}, {"note", now}});
    return Exit::Ok;
}

Exit runNote(const Arguments& arguments, const Console& console)
{
    const std::string run = arguments.positional(0);
    const auto note = arguments.has("text") ? std::optional(arguments.text("text")) : std::nullopt;
    if (arguments.has("group")) {
        return noteOfGroup(arguments, note, console);
    }
    auto info = engine::readRunInfo(run);
    if (!info) {
        return console.fail(Exit::Usage,
                            {run, info.error().text() + "; expected a run, or --group with a folder of runs"});
    }
    if (note) {
        RESIDUA_TRY_OR_FAIL(Exit::RunFailed, engine::annotateRun(run, info->tags, *note));
        info->notes = *note;
    }
    console.line(terminalText(info->notes, console.width()));
    console.value({{"run", run}, {"note", info->notes}});
    return Exit::Ok;
}

Exit runDevices(const Arguments&, const Console& console)
{
    const engine::DevicesListed listed =
        RESIDUA_TRY(answerOf(engine::ListDevices{engine::QueryTag{1}}, console, {}, {}, "the devices are not known"));
    json list = json::array();
    for (const engine::DeviceInfo& device : listed.devices) {
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
         "write a run, a comparison of several runs, or a page that was kept of them, as one HTML page",
         "residua-cli report my-project/runs/first -o report.html",
         {{{"RUNS",
            "a run; several runs, folders of runs or projects; or a page of a project, runs/NAME.page.json",
            Presence::Repeated,
            {},
            Beside::Files}},
          {{"output", OptionKind::Text, "FILE",
            "the page; - is standard output (default: report.html in the run or folder, NAME.html beside a page)", "o"},
           {"sweep", OptionKind::Text, "NAME", "only the runs of this sweep"},
           {"baseline", OptionKind::Text, "NAME", "show how far each group is from this group or run, as compare does"},
           {"note", OptionKind::Text, "TEXT", "Markdown at the beginning of the comparison"},
           {"keep", OptionKind::Text, "NAME",
            "also keep the choice of runs in the project, as a page that the window opens"}}},
         &runReport},
        {"note",
         "print or replace the note of a run, or of a group of runs; reports show it",
         "residua-cli note my-project/runs/first --text \"the *first* try\"",
         {{{"RUN", "a run; with --group, a project or a folder of runs"}},
          {{"group", OptionKind::Text, "NAME", "the note of this group, by its label in `residua-cli compare`"},
           {"text", OptionKind::Text, "TEXT", "the new note, as Markdown; an empty text removes the note"}}},
         &runNote},
        {"devices", "list where a run can compute", "residua-cli devices", {}, &runDevices},
    };
}

} // namespace residua::cli
