// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/sweep/sweep_plan.h"

#include "app/cli/runs/weakest_shortcuts.h"
#include "engine/base/api/events.h"
#include "engine/runs/results/remotes.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "projects/base/text.h"
#include "projects/commands/commands.h"
#include "projects/nodes/towers.h"
#include "projects/schedule/stage_schedule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ranges>
#include <utility>

namespace residua::cli {
namespace {

using projects::Project;
using projects::Pruning;

constexpr const char* kCounts = "--prune-weakest";
constexpr const char* kWiring = "/topology/wiring";

/// A number of shortcuts to leave out, or a share of all of them.
struct PruneCount {
    double value = 0;
    bool isShare = false;

    [[nodiscard]] std::int64_t of(std::size_t all) const
    {
        const double count = isShare ? value / 100 * static_cast<double>(all) : value;
        return static_cast<std::int64_t>(std::floor(count));
    }
};

Result<std::vector<PruneCount>> countsFrom(const std::string& text)
{
    std::vector<PruneCount> counts;
    for (const auto& part : text | std::views::split(',')) {
        std::string_view word(part.begin(), part.end());
        const bool isShare = word.ends_with('%');
        word.remove_suffix(isShare ? 1 : 0);
        const auto count = numberFrom<std::int64_t>(word);
        const std::int64_t most = isShare ? 100 : kMostInteger;
        if (!count || *count < 0 || *count > most) {
            return Error{kCounts, "got \"" + shortened(std::string(part.begin(), part.end())) +
                                      "\", expected numbers of shortcuts from 0, or shares of them from 0% to 100%, "
                                      "separated by commas"};
        }
        counts.push_back({static_cast<double>(*count), isShare});
    }
    return counts;
}

/// The trained run, as the members begin.
struct OpenedOrigin {
    engine::RunInfo info;
    Project project;
    std::filesystem::path projectDirectory;
    std::int64_t step = 0;
    std::size_t tower = 0; ///< that is pruned

    [[nodiscard]] Project view() const { return projects::viewOf(project, tower); }
};

/// Returns the step of the checkpoint that the members go on from.
Result<std::int64_t> stepOf(const engine::RunReader& reader, const engine::RunInfo& info, const Arguments& arguments)
{
    const std::vector<std::int64_t> here = reader.checkpoints();
    const engine::DistantCheckpoints distant = engine::distantCheckpoints(info.directory);
    const bool trains = info.status == engine::RunStatus::Running || info.status == engine::RunStatus::Paused;
    if (trains && !arguments.has("step")) {
        return Error{info.directory, "is being trained, so its last checkpoint changes; expected a run that has ended, "
                                     "or --step N"};
    }
    if (here.empty() && distant.steps.empty()) {
        return Error{info.directory, "has no checkpoint yet to go on from"};
    }
    const std::int64_t last =
        std::max(here.empty() ? 0 : here.back(), distant.steps.empty() ? 0 : distant.steps.back());
    const std::int64_t step = arguments.integer("step", last);
    if (std::ranges::binary_search(here, step)) {
        return step;
    }
    const bool isAway = std::ranges::binary_search(distant.steps, step);
    return Error{info.directory, "has no checkpoint of step " + std::to_string(step) +
                                     (isAway ? " here: fetch it first, with residua-cli fetch " + info.directory +
                                                   " --step " + std::to_string(step)
                                             : "; its checkpoints are of steps " +
                                                   joinedText(here, ", ", [](auto at) { return std::to_string(at); }))};
}

/// Opens the run with the settings of --set, for --steps further steps.
Result<OpenedOrigin> openOrigin(const Arguments& arguments, const Console& console)
{
    const Result<std::filesystem::path> directory = absolutePath(arguments.positional(0));
    const auto reader =
        RESIDUA_TRY(directory ? engine::RunReader::open(*directory) : Result<engine::RunReader>(directory.error()));
    auto info = reader.info();
    auto project = reader.project();
    auto folder = engine::projectDirectoryOf(*directory);
    const auto step = info ? stepOf(reader, *info, arguments) : Result<std::int64_t>(info.error());
    if (!step || !project || !folder) {
        return !step ? step.error() : !project ? project.error() : folder.error();
    }
    const auto tower = RESIDUA_TRY(projects::chosenTower(*project, arguments.text("tower")));
    OpenedOrigin origin{std::move(*info), *project, std::move(*folder), *step, tower};
    if (const Status set = setFields(origin.project, arguments.texts("set"), console); !set) {
        return Error{"--set", set.error().text()};
    }
    if (const Status fits = engine::checkForkProject(*project, origin.project); !fits) {
        return Error{"--set", fits.error().text()};
    }
    projects::TrainingPlan& training = origin.project.training;
    const std::int64_t steps = origin.step + arguments.integer("steps", 0);
    origin.project.stack().schedule =
        projects::continued(std::move(origin.project.stack().schedule), training.steps, steps);
    training.steps = steps;
    origin.project.name = origin.info.name;
    return origin;
}

/// Returns the knock-out of the shortcuts.
ValueOr<engine::KnockoutReady, Refusal> knockoutOf(const engine::RunRef& of, const Arguments& arguments,
                                                   const Console& console)
{
    engine::KnockoutRequest request{engine::QueryTag{1}, of};
    request.batches = arguments.integer("batches", 0);
    request.tower = arguments.text("tower");
    const auto answer = ask(request, console, Computing::from(arguments), shareTeller(console, "measured "));
    if (!answer) {
        return Refusal{Exit::Quit, {"", "interrupted: nothing was trained"}};
    }
    const auto* const ready = std::get_if<engine::KnockoutReady>(&*answer);
    if (ready == nullptr) {
        const auto* const failed = std::get_if<engine::QueryFailed>(&*answer);
        return Refusal{Exit::RunFailed, failed != nullptr ? failed->error : Error{"engine", "unexpected answer"}};
    }
    for (const std::string& note : arguments.has("lines") ? std::vector<std::string>() : ready->notes) {
        console.remark("note: analyze knockout: " + note);
    }
    return *ready;
}

/// Returns the parts that each member leaves out; none of them twice the same number.
Result<std::vector<Pruning>> pruningsOf(const Project& project, const engine::KnockoutReady& ready, projects::WeakBy by,
                                        const std::vector<PruneCount>& counts)
{
    std::vector<Pruning> prunings;
    for (const PruneCount& each : counts) {
        const std::int64_t count = each.of(ready.rows.size());
        Result<Pruning> pruning = count > 0 ? weakestOf(project, ready, by, count) : Result<Pruning>(Pruning());
        if (!pruning) {
            return Error{kCounts, pruning.error().message};
        }
        if (std::ranges::find(prunings, *pruning) != prunings.end()) {
            return Error{kCounts, "leaves out " + std::to_string(count) + " of " + std::to_string(ready.rows.size()) +
                                      " shortcuts twice; expected each number once"};
        }
        prunings.push_back(*std::move(pruning));
    }
    return prunings;
}

/// Returns the axis whose values are the wirings without the shortcuts.
Result<projects::SweepAxis> axisOf(const OpenedOrigin& origin, const std::vector<Pruning>& prunings,
                                   const std::string& measure)
{
    const Project project = origin.view();
    projects::SweepAxis axis{projects::pointerOfView(origin.tower, kWiring), "shortcuts pruned by " + measure, {}};
    for (const Pruning& pruning : prunings) {
        const auto made =
            RESIDUA_TRY(pruning.empty() ? Result<projects::PrunedProject>(projects::PrunedProject{project, {}})
                                        : projects::pruned(project, pruning));
        axis.values.push_back(
            {std::to_string(pruning.shortcuts.size()) + " pruned", *projects::fieldAt(made.project, kWiring)});
    }
    return axis;
}

/// Returns the sweep of --vary and the axis, or an error for a field that a run cannot change.
Result<projects::Sweep> sweepOf(const Arguments& arguments, projects::SweepAxis axis)
{
    std::vector<projects::SweepAxis> axes = RESIDUA_TRY(typedAxes(arguments));
    for (const projects::SweepAxis& each : axes) {
        if (!projects::canChangeInRun(each.field) || each.field == kSteps) {
            return Error{"--vary",
                         each.field + (each.field == kSteps ? " is set by --steps for all members"
                                                            : " cannot change while a run goes on; expected a field of "
                                                              "training or schedule")};
        }
    }
    const std::string name = axis.label;
    axes.push_back(std::move(axis));
    return projects::Sweep{name, std::move(axes)};
}

/// Returns the plan of the members.
Result<SweepPlan> planFor(const OpenedOrigin& origin, const engine::RunRef& of, const std::vector<Pruning>& prunings,
                          const Arguments& arguments)
{
    auto axis = axisOf(origin, prunings, arguments.text("weak-by", "effect"));
    const auto sweep = RESIDUA_TRY(axis ? sweepOf(arguments, *std::move(axis)) : Result<projects::Sweep>(axis.error()));
    const std::filesystem::path& run = of.runDirectory;
    const std::string title = run.filename().string() + " pruned by " + arguments.text("weak-by", "effect") +
                              " steps " + std::to_string(origin.step) + " to " +
                              std::to_string(origin.project.training.steps);
    const std::filesystem::path folder = run.parent_path() / directoryName(title);
    SweepPlan plan = RESIDUA_TRY(
        planOf({{origin.project, {}}, origin.projectDirectory}, sweep, arguments.text("output", folder.string())));
    plan.origin = {of, origin.view().stack().topology, arguments.text("tower")};
    const double further = 1 - static_cast<double>(origin.step) /
                                   static_cast<double>(std::max<std::int64_t>(origin.project.training.steps, 1));
    for (std::size_t i = 0; i < plan.members.size(); ++i) {
        const Pruning& pruning = prunings[i % prunings.size()]; // the axis is the last
        plan.members[i].prune = pruning.empty() ? "" : textOf(pruning, origin.view());
        plan.members[i].member.trainFlops *= further;
    }
    return plan;
}

} // namespace

ValueOr<SweepPlan, Refusal> prunedPlanFrom(const Arguments& arguments, const Console& console)
{
    const auto counts = countsFrom(arguments.text("prune-weakest"));
    const projects::WeakBy by =
        RESIDUA_TRY(refusing(Exit::Usage, counts ? weakByFrom(arguments.text("weak-by", "effect"))
                                                 : Result<projects::WeakBy>(counts.error())));
    if (!arguments.has("steps") || !arguments.positional(1).empty()) {
        const bool isNamed = !arguments.positional(1).empty();
        return Refusal{Exit::Usage, isNamed ? Error{kCounts, "is a sweep of its own; expected no NAME beside RUN"}
                                            : Error{"--steps", "missing, expected the further steps of each member"}};
    }
    const OpenedOrigin origin = RESIDUA_TRY(refusing(Exit::Usage, openOrigin(arguments, console)));
    engine::RunRef of{origin.info.directory};
    of.step = origin.step;
    of.otherData = arguments.has("other-data") ? engine::OtherData::Accept : engine::OtherData::Refuse;
    const engine::KnockoutReady measured = RESIDUA_TRY(knockoutOf(of, arguments, console));
    const std::vector<Pruning> prunings =
        RESIDUA_TRY(refusing(Exit::Usage, pruningsOf(origin.view(), measured, by, *counts)));
    return refusing(Exit::Usage, planFor(origin, of, prunings, arguments));
}

std::optional<Status> beginMember(const SweepPlan& plan, const Planned& planned, engine::OtherData otherData,
                                  const Computing& computing, const Console& console)
{
    const std::filesystem::path directory = RESIDUA_TRY(absolutePath(planned.directory));
    engine::RetrofitRequest request;
    request.tag = engine::QueryTag{1};
    request.of = plan.origin->of;
    request.of.otherData = otherData;
    request.topology = plan.origin->topology;
    request.prune = planned.prune;
    request.measured = true;
    request.tower = plan.origin->tower;
    const std::size_t tower = RESIDUA_TRY(projects::chosenTower(planned.member.project, request.tower));
    request.project = projects::viewOf(planned.member.project, tower);
    request.project->stack().topology = plan.origin->topology;
    request.project = projects::viewOf(*std::move(request.project), tower);
    request.newRun = directory;
    request.steps = planned.member.project.training.steps;
    const auto answer = ask(request, console, computing);
    if (!answer) {
        return std::nullopt;
    }
    if (const auto* const failed = std::get_if<engine::QueryFailed>(&*answer)) {
        return failed->error;
    }
    return engine::enterSweep(directory, planned.member.membership);
}

double lossBefore(const Planned& planned)
{
    const auto reader = engine::RunReader::open(planned.directory);
    const auto info = reader ? reader->info() : Result<engine::RunInfo>(reader.error());
    if (info) {
        for (const engine::MetricPoint& point : reader->metric(engine::metric::kValidationLoss)) {
            if (point.step == info->parentStep) {
                return point.value;
            }
        }
    }
    return std::numeric_limits<double>::quiet_NaN();
}

} // namespace residua::cli
