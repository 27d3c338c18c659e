// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/project_argument.h"
#include "app/cli/run_argument.h"
#include "app/cli/run_monitor.h"
#include "engine/api/run_reader.h"
#include "projects/cost.h"
#include "projects/store.h"
#include "projects/validate.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace residua::cli {
namespace {

constexpr engine::RunId kRun{1};

/// Tells how a run ended and how to go on.
Exit conclude(const RunOutcome& outcome, const Console& console)
{
    const std::string directory = outcome.started.runDirectory.string();
    if (outcome.ended.status == engine::RunStatus::Failed) {
        const Exit code = console.fail(Exit::RunFailed, outcome.ended.error);
        if (outcome.checkpointStep >= 0) {
            console.remark("go on from the checkpoint of step " + std::to_string(outcome.checkpointStep) +
                           " with: residua-cli resume " + directory);
        }
        return code;
    }
    if (directory.empty()) {
        console.remark("stopped while it was prepared: nothing was trained");
        return Exit::Interrupted;
    }
    if (outcome.ended.status == engine::RunStatus::Stopped) {
        console.line("stopped at step " + grouped(outcome.ended.step) +
                     ", checkpoint written; go on with: residua-cli resume " + directory);
        return Exit::Interrupted;
    }
    const double loss = outcome.steps.empty() ? std::nan("") : outcome.steps.back().loss;
    console.line("finished: loss " + lossText(loss) +
                 (std::isfinite(outcome.validationLoss) ? ", validation " + lossText(outcome.validationLoss) : ""));
    console.line("checkpoint " +
                 engine::checkpointDirectory(outcome.started.runDirectory, outcome.checkpointStep).string());
    return Exit::Ok;
}

/// Problems of a project that stand in the way of training.
std::optional<Error> obstacle(const projects::Project& project, const Console& console)
{
    const std::vector<projects::Problem> problems = projects::validate(project);
    if (!projects::hasErrors(problems)) {
        return std::nullopt;
    }
    for (const projects::Problem& problem : problems) {
        console.remark(problem.text());
    }
    return Error{"", "the project is invalid: nothing was trained"};
}

Exit runTrain(const Arguments& arguments, const Console& console)
{
    Result<NamedProject> opened = openProject(arguments.positional(0));
    if (!opened) {
        return console.fail(Exit::InvalidProject, opened.error());
    }
    projects::Project& project = opened->document.project;
    project.training.steps = arguments.integer("steps", project.training.steps);
    if (const auto error = obstacle(project, console)) {
        return console.fail(Exit::InvalidProject, *error);
    }
    const std::filesystem::path folder = arguments.text("runs", (opened->directory / projects::kRunsFolder).string());
    const std::string named = arguments.text("run");
    engine::StartRun command;
    command.run = kRun;
    command.project = project;
    command.projectDirectory = opened->directory;
    command.runDirectory = named;
    command.runFolder = folder;
    command.device = arguments.text("device", "cpu");
    return conclude(follow(command, kRun, projects::isLanguage(project.data), console, Show::Progress), console);
}

Exit runResume(const Arguments& arguments, const Console& console)
{
    engine::ResumeRun command;
    command.run = kRun;
    command.runDirectory = arguments.positional(0);
    const Result<engine::RunReader> reader = engine::RunReader::open(command.runDirectory);
    if (!reader) {
        return console.fail(Exit::RunFailed, reader.error());
    }
    const Result<projects::Project> project = reader->project();
    const Result<engine::RunInfo> info = reader->info();
    if (!project || !info) {
        return console.fail(Exit::RunFailed, project ? info.error() : project.error());
    }
    setSource(command, arguments);
    command.device = arguments.text("device", info->device);
    if (arguments.has("steps")) {
        command.steps = arguments.integer("steps", 0);
    }
    if (arguments.has("from")) {
        command.step = arguments.integer("from", 0);
    }
    return conclude(follow(command, kRun, projects::isLanguage(project->data), console, Show::Progress), console);
}

/// A directory that is removed with all that is in it.
class ScratchDirectory {
public:
    ScratchDirectory()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "residua-bench-XXXXXX").string();
        if (mkdtemp(pattern.data()) != nullptr) {
            m_path = pattern;
        }
    }
    ~ScratchDirectory()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
    std::filesystem::path m_path;
};

/// Seconds of a step: quartiles over the steps after the warm-up.
struct StepTime {
    double lower = 0;
    double median = 0;
    double upper = 0;
};

StepTime stepTime(const std::vector<engine::StepRecord>& steps, std::size_t warmup)
{
    std::vector<double> seconds;
    for (std::size_t i = std::max<std::size_t>(warmup, 1); i < steps.size(); ++i) {
        seconds.push_back(steps[i].seconds - steps[i - 1].seconds);
    }
    std::sort(seconds.begin(), seconds.end());
    const std::size_t count = seconds.size();
    return {seconds[count / 4], seconds[count / 2], seconds[count * 3 / 4]};
}

void showBench(const projects::Project& project, const RunOutcome& outcome, const StepTime& time,
               const Console& console)
{
    const bool language = projects::isLanguage(project.data);
    const double units = static_cast<double>(outcome.started.unitsPerStep) / time.median;
    const Result<projects::CostReport> report = projects::costOf(project);
    const projects::Cost cost = report ? report->total : projects::Cost{};
    const double needed = cost.weightBytes + cost.optimiserBytes + cost.activationBytes;
    const std::string unit = language ? "token" : "sample";
    console.line(table({
        {"device", outcome.started.device},
        {"parameters", grouped(outcome.started.parameters)},
        {"step, median", scaled(time.median * 1000) + " ms"},
        {"step, quartiles", scaled(time.lower * 1000) + " to " + scaled(time.upper * 1000) + " ms"},
        {"steps/s", scaled(1 / time.median)},
        {unit + "s/s", grouped(std::llround(units))},
        {"training FLOP/" + unit, scaled(cost.trainFlops)},
        {"FLOP/s", scaled(cost.trainFlops * units)},
        {"memory, predicted", bytesText(needed)},
        {"memory, peak", bytesText(static_cast<double>(outcome.peakBytes))},
    }));
    console.value({{"device", outcome.started.device},
                   {"parameters", outcome.started.parameters},
                   {"secondsPerStep", {{"lower", time.lower}, {"median", time.median}, {"upper", time.upper}}},
                   {"stepsPerSecond", 1 / time.median},
                   {"unitsPerSecond", units},
                   {"trainFlopsPerUnit", cost.trainFlops},
                   {"flopsPerSecond", cost.trainFlops * units},
                   {"predictedBytes", needed},
                   {"peakBytes", outcome.peakBytes}});
}

Exit runBench(const Arguments& arguments, const Console& console)
{
    Result<NamedProject> opened = openProject(arguments.positional(0));
    if (!opened) {
        return console.fail(Exit::InvalidProject, opened.error());
    }
    projects::Project& project = opened->document.project;
    const std::int64_t steps = arguments.integer("steps", 30);
    const std::int64_t warmup = std::max<std::int64_t>(steps / 5, 1);
    project.training.steps = steps + warmup;
    project.training.validateEvery = 0;
    project.training.checkpointEvery = 0;
    if (const auto error = obstacle(project, console)) {
        return console.fail(Exit::InvalidProject, *error);
    }
    const ScratchDirectory scratch;
    engine::StartRun command;
    command.run = kRun;
    command.project = project;
    command.projectDirectory = opened->directory;
    command.runDirectory = scratch.path() / "run";
    command.device = arguments.text("device", "cpu");
    const RunOutcome outcome = follow(command, kRun, projects::isLanguage(project.data), console, Show::Nothing);
    if (outcome.ended.status == engine::RunStatus::Failed) {
        return console.fail(Exit::RunFailed, outcome.ended.error);
    }
    if (outcome.interrupted) {
        return Exit::Interrupted;
    }
    showBench(project, outcome, stepTime(outcome.steps, static_cast<std::size_t>(warmup)), console);
    return Exit::Ok;
}

const PositionalSpec kProject{"PROJECT", "a project's directory, or its project.json"};
const OptionSpec kDevice{"device", OptionKind::Text, "KEY", "cpu or cuda:N (residua-cli devices lists them)"};

} // namespace

std::vector<Command> runCommands()
{
    return {
        {"train",
         "train a project in a new run",
         "residua-cli train my-project --steps 500 --device cuda:0",
         {{kProject},
          {kDevice,
           {"steps", OptionKind::Integer, "N", "steps in all (default: the project's)", {}, 1},
           {"runs", OptionKind::Text, "DIR", "folder of the new run (default: PROJECT/runs)"},
           {"run", OptionKind::Text, "DIR", "the new run's own directory, new or empty"}}},
         &runTrain},
        {"resume",
         "go on with a run from its last checkpoint",
         "residua-cli resume my-project/runs/RUN --steps 1000",
         {{{"RUN", "a run's directory"}},
          {kDevice,
           {"steps", OptionKind::Integer, "N", "a new total of steps", {}, 1},
           {"from", OptionKind::Integer, "STEP", "the checkpoint of this step; what came after it is dropped", {}, 0},
           projectOption(),
           otherDataOption()}},
         &runResume},
        {"bench",
         "measure how fast a project trains",
         "residua-cli bench my-project --steps 50",
         {{kProject}, {kDevice, {"steps", OptionKind::Integer, "N", "measured steps (default 30)", {}, 4}}},
         &runBench},
    };
}

} // namespace residua::cli
