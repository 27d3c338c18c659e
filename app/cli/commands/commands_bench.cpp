// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/data_argument.h"
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/run_monitor.h"
#include "app/cli/terminal/process.h"
#include "projects/base/text.h"
#include "projects/cost/cost.h"
#include "projects/nodes/example_schema.h"
#include "projects/studies/paired_difference.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <utility>

namespace residua::cli {
namespace {

using nlohmann::json;

/// The seconds of a step, as quartiles over the steps after the warm-up.
struct StepTime {
    double lower = 0;
    double median = 0;
    double upper = 0;
};

StepTime quartilesOf(std::vector<double> seconds)
{
    std::sort(seconds.begin(), seconds.end());
    const std::size_t count = seconds.size();
    return {seconds[count / 4], seconds[count / 2], seconds[count * 3 / 4]};
}

/// A project that is measured, in as many rounds as are asked for.
struct Measured {
    std::string name; ///< as typed
    std::filesystem::path directory;
    projects::Project project;
    RunOutcome outcome;          ///< of the last round
    std::vector<double> seconds; ///< of every step after the warm-up
    std::vector<double> medians; ///< of each round
};

void addRound(Measured& measured, std::size_t warmup)
{
    const std::vector<engine::StepRecord>& steps = measured.outcome.steps;
    std::vector<double> seconds;
    for (std::size_t i = std::max<std::size_t>(warmup, 1); i < steps.size(); ++i) {
        seconds.push_back(steps[i].seconds - steps[i - 1].seconds);
    }
    measured.seconds.insert(measured.seconds.end(), seconds.begin(), seconds.end());
    measured.medians.push_back(quartilesOf(std::move(seconds)).median);
}

json showBench(const Measured& measured, const Console& console)
{
    const RunOutcome& outcome = measured.outcome;
    const StepTime time = quartilesOf(measured.seconds);
    const double units = static_cast<double>(outcome.started.unitsPerStep) / time.median;
    const Result<projects::SoundProject> sound = projects::soundProject(measured.project);
    const projects::DeviceKind device = projects::deviceKindOf(outcome.started.device);
    const projects::Cost cost = sound ? projects::costOf(*sound, device).total : projects::Cost{};
    const double needed = cost.memoryBytes();
    const std::string unit = projects::unitWord(measured.project.data);
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
    return {{"project", measured.name},
            {"device", outcome.started.device},
            {"parameters", outcome.started.parameters},
            {"secondsPerStep", {{"lower", time.lower}, {"median", time.median}, {"upper", time.upper}}},
            {"stepsPerSecond", 1 / time.median},
            {"unitsPerSecond", units},
            {"trainFlopsPerUnit", cost.trainFlops},
            {"flopsPerSecond", cost.trainFlops * units},
            {"predictedBytes", needed},
            {"peakBytes", outcome.peakBytes}};
}

/// Prints the time of a step against that of the first project: the mean difference of the rounds' medians.
json showAgainstFirst(const Measured& measured, const Measured& first, const Console& console)
{
    const projects::PairedDifference difference = projects::pairedDifference(measured.medians, first.medians);
    const double ratio = quartilesOf(measured.seconds).median / quartilesOf(first.seconds).median;
    const bool bounded = std::isfinite(difference.halfWidth);
    const auto milliseconds = [](double seconds) { return scaled(seconds * 1000) + " ms"; };
    console.line(
        measured.name + " against " + first.name + ": " + lossText(ratio) + " times the time of a step; " +
        milliseconds(difference.mean) + " more" +
        (bounded ? ", with 95 % between " + milliseconds(difference.low()) + " and " + milliseconds(difference.high())
                 : ", without an interval: --rounds 3 or more gives one"));
    return {{"project", measured.name},
            {"against", first.name},
            {"ratio", ratio},
            {"secondsMore", difference.mean},
            {"low", bounded ? json(difference.low()) : json()},
            {"high", bounded ? json(difference.high()) : json()}};
}

/// Trains the project for some steps in a folder of its own.
Result<RunOutcome> trainedOnce(const Measured& measured, const Arguments& arguments, const Console& console)
{
    const ScratchFolder scratch = RESIDUA_TRY(scratchDirectory("residua-bench-"));
    engine::StartRun command;
    command.run = kRun;
    command.project = measured.project;
    command.projectDirectory = measured.directory;
    command.runDirectory = scratch.path() / "run";
    command.device = arguments.text("device", "cpu");
    return follow(command, console, Show::NothingButKeepSteps, Computing::from(arguments));
}

Exit showAll(const std::vector<Measured>& all, const Console& console)
{
    if (all.size() == 1) {
        console.value(showBench(all.front(), console));
        return Exit::Ok;
    }
    json shown = json::array();
    json against = json::array();
    for (const Measured& measured : all) {
        console.line(measured.name);
        shown.push_back(showBench(measured, console));
    }
    for (const Measured& measured : std::span(all).subspan(1)) {
        against.push_back(showAgainstFirst(measured, all.front(), console));
    }
    console.value({{"projects", shown}, {"against", against}});
    return Exit::Ok;
}

Exit runBench(const Arguments& arguments, const Console& console)
{
    const std::int64_t steps = arguments.integer("steps", 30);
    const std::int64_t warmup = std::max<std::int64_t>(steps / 5, 1);
    std::vector<Measured> all;
    for (const std::string& name : arguments.positionals(0)) {
        NamedProject opened = RESIDUA_TRY(reported(openProject(name, arguments, console), console));
        projects::Project& project = opened.document.project;
        RESIDUA_TRY_OR_FAIL(Exit::InvalidProject, trainFor(project, steps + warmup));
        project.training.validateEvery = 0;
        project.training.checkpointEvery = 0;
        if (const auto error = obstacle(project, console)) {
            return console.fail(Exit::InvalidProject, *error);
        }
        all.push_back({name, opened.directory, std::move(project), {}, {}, {}});
    }
    // By turns, so that another load of the machine slows all of them.
    for (std::int64_t round = 0; round < arguments.integer("rounds", 1); ++round) {
        for (Measured& measured : all) {
            RunOutcome outcome = RESIDUA_TRY_OR_FAIL(Exit::Usage, trainedOnce(measured, arguments, console));
            if (outcome.ended.hasFailed()) {
                return console.fail(Exit::RunFailed, outcome.ended.error);
            }
            if (outcome.ended.status == engine::RunStatus::Stopped) {
                return console.fail(Exit::Quit, {"", "interrupted: nothing was measured"});
            }
            measured.outcome = std::move(outcome);
            addRound(measured, static_cast<std::size_t>(warmup));
        }
    }
    return showAll(all, console);
}

OptionSpec stepsOption()
{
    OptionSpec option = fieldOption("/training/steps", "steps", "N", "measured steps (default 30)");
    option.minimum = 4;
    return option;
}

PositionalSpec projectsArgument()
{
    PositionalSpec projects = projectArgument();
    projects.presence = Presence::Repeated;
    return projects;
}

} // namespace

std::vector<Command> benchCommands()
{
    return {
        {"bench",
         "measure how fast a project trains, or several by turns",
         "residua-cli bench my-project --steps 10",
         {{projectsArgument()},
          {setOption(),
           stepsOption(),
           {"rounds", OptionKind::Integer, "N", "measure each project this many times, by turns (default 1)", {}, 1},
           deviceOption(),
           threadsOption()}},
         &runBench},
    };
}

} // namespace residua::cli
