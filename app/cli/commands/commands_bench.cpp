// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/data_argument.h"
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/run_monitor.h"
#include "app/cli/terminal/process.h"
#include "projects/base/text.h"
#include "projects/cost/cost.h"
#include "projects/nodes/example_schema.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <variant>

namespace residua::cli {
namespace {

/// The seconds of a step, as quartiles over the steps after the warm-up.
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
    const double units = static_cast<double>(outcome.started.unitsPerStep) / time.median;
    const Result<projects::SoundProject> sound = projects::soundProject(project);
    const projects::DeviceKind device = projects::deviceKindOf(outcome.started.device);
    const projects::Cost cost = sound ? projects::costOf(*sound, device).total : projects::Cost{};
    const double needed = cost.memoryBytes();
    const std::string unit = projects::unitWord(project.data);
    console.line(console.table({
        {"device", outcome.started.device},
        {"parameters", groupedText(outcome.started.parameters)},
        {"step, median", scaled(time.median * 1000) + " ms"},
        {"step, quartiles", scaled(time.lower * 1000) + " to " + scaled(time.upper * 1000) + " ms"},
        {"steps/s", scaled(1 / time.median)},
        {unit + "s/s", groupedText(std::llround(units))},
        {"training FLOP/" + unit, scaled(cost.trainFlops)},
        {"FLOP/s", scaled(cost.trainFlops * units)},
        {"memory, predicted", scaledBytes(needed)},
        {"memory, peak", scaledBytes(static_cast<double>(outcome.peakBytes))},
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
    std::variant<NamedProject, Refusal> named = openProject(arguments, console);
    if (const auto* const refusal = std::get_if<Refusal>(&named)) {
        return console.fail(refusal->code, refusal->error);
    }
    const std::filesystem::path directory = std::get<NamedProject>(named).directory;
    projects::Project& project = std::get<NamedProject>(named).document.project;
    const std::int64_t steps = arguments.integer("steps", 30);
    const std::int64_t warmup = std::max<std::int64_t>(steps / 5, 1);
    if (const Status planned = trainFor(project, steps + warmup); !planned) {
        return console.fail(Exit::InvalidProject, planned.error());
    }
    project.training.validateEvery = 0;
    project.training.checkpointEvery = 0;
    if (const auto error = obstacle(project, console)) {
        return console.fail(Exit::InvalidProject, *error);
    }
    const Result<ScratchFolder> scratch = scratchDirectory("residua-bench-");
    if (!scratch) {
        return console.fail(Exit::Usage, scratch.error());
    }
    engine::StartRun command;
    command.run = kRun;
    command.project = project;
    command.projectDirectory = directory;
    command.runDirectory = scratch->path() / "run";
    command.device = arguments.text("device", "cpu");
    const RunOutcome outcome = follow(command, console, Show::NothingButKeepSteps, Computing::from(arguments));
    if (outcome.ended.hasFailed()) {
        return console.fail(Exit::RunFailed, outcome.ended.error);
    }
    if (outcome.ended.status == engine::RunStatus::Stopped) {
        return console.fail(Exit::Quit, {"", "interrupted: nothing was measured"});
    }
    showBench(project, outcome, stepTime(outcome.steps, static_cast<std::size_t>(warmup)), console);
    return Exit::Ok;
}

OptionSpec stepsOption()
{
    OptionSpec option = fieldOption("/training/steps", "steps", "N", "measured steps (default 30)");
    option.minimum = 4;
    return option;
}

} // namespace

std::vector<Command> benchCommands()
{
    return {
        {"bench",
         "measure how fast a project trains",
         "residua-cli bench my-project --steps 10",
         {{projectArgument()}, {setOption(), stepsOption(), deviceOption(), threadsOption()}},
         &runBench},
    };
}

} // namespace residua::cli
