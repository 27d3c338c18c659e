// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/project_argument.h"
#include "app/cli/run_monitor.h"
#include "engine/api/run_reader.h"
#include "projects/store.h"
#include "projects/sweep_grid.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <set>

namespace residua::cli {
namespace {

using nlohmann::json;
using projects::Sweep;
using projects::SweepMember;

constexpr engine::RunId kRun{1};
constexpr const char* kTypedSweep = "sweep";

/// A directory's name: letters, digits and what a shell leaves alone.
std::string directoryName(const std::string& label)
{
    std::string name;
    for (const char c : label) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                           std::string_view(".:+=_").find(c) != std::string_view::npos;
        if (plain) {
            name += c;
        } else if (!name.empty() && name.back() != '-') {
            name += '-';
        }
    }
    while (name.ends_with('-')) {
        name.pop_back();
    }
    return name.empty() || name.front() == '.' ? "_" + name : name;
}

/// A member and where its run is.
struct Planned {
    SweepMember member;
    std::filesystem::path directory;
    engine::RunInfo info; ///< as the run's files have it after training
    [[nodiscard]] double loss() const { return engine::finalLoss(info); }
};

Result<Sweep> typedSweep(const std::vector<std::string>& axes)
{
    Sweep sweep{kTypedSweep, {}};
    for (const std::string& text : axes) {
        projects::SweepAxis axis = projects::axisFrom(text);
        if (axis.values.empty()) {
            return Error{"--vary", "got \"" + text + "\", expected POINTER=v1,v2,… such as /seeds/init=1,2,3"};
        }
        sweep.axes.push_back(std::move(axis));
    }
    return sweep;
}

/// The sweep that the command line means: its own axes, the named one, or the project's only one.
Result<Sweep> chosenSweep(const Arguments& arguments, const projects::Project& project)
{
    if (arguments.has("vary")) {
        return typedSweep(arguments.texts("vary"));
    }
    const std::string name = arguments.positional(1);
    if (name.empty() && project.sweeps.size() == 1) {
        return project.sweeps.front();
    }
    if (const Sweep* const found = projects::findSweep(project.sweeps, name)) {
        return *found;
    }
    std::string known;
    std::vector<std::string> names;
    for (const Sweep& sweep : project.sweeps) {
        known += (known.empty() ? "" : ", ") + sweep.name;
        names.push_back(sweep.name);
    }
    if (known.empty()) {
        return Error{"", "the project has no sweep; expected --vary POINTER=v1,v2,…"};
    }
    const std::string meant = nearest(name, names);
    return Error{"", (name.empty() ? "the project has several sweeps" : "the project has no sweep \"" + name + "\"") +
                         "; expected one of " + known + (meant.empty() ? "" : ", did you mean " + meant + "?")};
}

double totalFlops(const std::vector<Planned>& plan)
{
    double total = 0;
    for (const Planned& planned : plan) {
        total += planned.member.trainFlops;
    }
    return total;
}

/// The grid with each member's cost, or why it cannot train.
void showGrid(const Sweep& sweep, const std::vector<Planned>& plan, const Console& console)
{
    std::vector<std::vector<std::string>> rows{{"member", "parameters", "steps", "FLOP"}};
    json list = json::array();
    for (const Planned& planned : plan) {
        const SweepMember& member = planned.member;
        rows.push_back({member.label, grouped(member.cost.parameters), grouped(member.project.training.steps),
                        scaled(member.trainFlops)});
        list.push_back({{"label", member.label},
                        {"values", member.values},
                        {"parameters", member.cost.parameters},
                        {"steps", member.project.training.steps},
                        {"flops", member.trainFlops},
                        {"error", member.error ? member.error->text() : ""}});
    }
    rows.push_back({"total", "", "", scaled(totalFlops(plan))});
    console.line(table(rows));
    console.value({{"sweep", sweep.name}, {"flops", totalFlops(plan)}, {"members", list}});
}

void showOutcome(const Sweep& sweep, const std::vector<Planned>& plan, const Console& console)
{
    std::vector<projects::CostAndLoss> points;
    for (const Planned& planned : plan) {
        points.push_back({planned.member.trainFlops, planned.loss()});
    }
    const std::vector<std::size_t> front = projects::paretoFront(points);
    std::vector<std::vector<std::string>> rows{{"member", "parameters", "FLOP", "loss", "validation", "front"}};
    json list = json::array();
    for (std::size_t i = 0; i < plan.size(); ++i) {
        const SweepMember& member = plan[i].member;
        const bool best = std::ranges::find(front, i) != front.end();
        rows.push_back({member.label, grouped(member.cost.parameters), scaled(member.trainFlops),
                        lossText(plan[i].info.loss), lossText(plan[i].info.validationLoss), best ? "*" : ""});
        list.push_back({{"label", member.label},
                        {"directory", plan[i].directory.string()},
                        {"parameters", member.cost.parameters},
                        {"flops", member.trainFlops},
                        {"status", engine::toString(plan[i].info.status)},
                        {"loss", plan[i].info.loss},
                        {"validationLoss", plan[i].info.validationLoss},
                        {"pareto", best}});
    }
    console.line(table(rows));
    console.line("* no other member is cheaper and better\ntotal " + scaled(totalFlops(plan)) + "FLOP");
    console.value({{"sweep", sweep.name}, {"flops", totalFlops(plan)}, {"members", list}});
}

/// What brings this member's run to its end: nothing where it is there already.
Result<std::optional<engine::Command>> commandFor(const Planned& planned, const std::filesystem::path& projectDirectory,
                                                  const std::string& device)
{
    std::error_code ignored;
    if (!std::filesystem::exists(planned.directory, ignored)) {
        return std::optional<engine::Command>(
            engine::StartRun{kRun, planned.member.project, projectDirectory, planned.directory, device});
    }
    const Result<engine::RunReader> reader = engine::RunReader::open(planned.directory);
    if (!reader) {
        return reader.error();
    }
    const Result<projects::Project> frozen = reader->project();
    const Result<engine::RunInfo> info = reader->info();
    if (!frozen || !info) {
        return frozen ? info.error() : frozen.error();
    }
    if (!(*frozen == planned.member.project)) {
        return Error{planned.directory.string(), "holds a run of another project; choose another folder with -o"};
    }
    if (info->status == engine::RunStatus::Finished) {
        return std::optional<engine::Command>{};
    }
    if (reader->checkpoints().empty()) {
        return Error{planned.directory.string(), "holds a run without a checkpoint to go on from; remove it"};
    }
    engine::ResumeRun resume;
    resume.run = kRun;
    resume.runDirectory = planned.directory;
    resume.device = device;
    return std::optional<engine::Command>(std::move(resume));
}

/// Trains one member; Ok where its run is complete.
Exit trainMember(const Planned& planned, const engine::Command& command, const Console& console)
{
    const RunOutcome outcome = follow(command, kRun, projects::isLanguage(planned.member.project.data), console,
                                      console.json() ? Show::Nothing : Show::Progress);
    if (outcome.ended.status == engine::RunStatus::Failed) {
        return console.fail(Exit::RunFailed, outcome.ended.error);
    }
    if (outcome.ended.status == engine::RunStatus::Stopped) {
        console.line("stopped at step " + grouped(outcome.ended.step) +
                     ", checkpoint written; the same command goes on from here");
        return Exit::Interrupted;
    }
    return Exit::Ok;
}

/// One after another. A failed member does not stop the others; an interrupt does.
Exit trainAll(std::vector<Planned>& plan, const std::filesystem::path& projectDirectory, const std::string& device,
              const Console& console)
{
    Exit worst = Exit::Ok;
    for (std::size_t i = 0; i < plan.size(); ++i) {
        Planned& planned = plan[i];
        const std::string heading =
            "[" + std::to_string(i + 1) + "/" + std::to_string(plan.size()) + "] " + planned.member.label;
        const auto command = commandFor(planned, projectDirectory, device);
        if (!command) {
            return console.fail(Exit::RunFailed, command.error());
        }
        console.line(heading + (*command ? "" : ": complete"));
        if (*command) {
            const Exit ended = trainMember(planned, **command, console);
            if (ended == Exit::Interrupted) {
                return ended;
            }
            worst = ended == Exit::Ok ? worst : ended;
        }
        planned.info.loss = planned.info.validationLoss = std::nan("");
        if (const auto reader = engine::RunReader::open(planned.directory)) {
            if (const auto info = reader->info()) {
                planned.info = *info;
            }
        }
    }
    return worst;
}

Result<std::vector<Planned>> planOf(const projects::Project& project, const Sweep& sweep,
                                    const std::filesystem::path& folder)
{
    Result<std::vector<SweepMember>> members = projects::expand(project, sweep);
    if (!members) {
        return members.error();
    }
    std::vector<Planned> plan;
    std::set<std::string> names;
    for (SweepMember& member : *members) {
        const std::string name = directoryName(member.label);
        if (!names.insert(name).second) {
            return Error{"sweep " + sweep.name,
                         "two members would be kept in " + name + "; expected labels that differ in letters or digits"};
        }
        plan.push_back({std::move(member), folder / name, {}});
    }
    return plan;
}

Exit runSweep(const Arguments& arguments, const Console& console)
{
    Result<NamedProject> opened = openProject(arguments.positional(0));
    if (!opened) {
        return console.fail(Exit::InvalidProject, opened.error());
    }
    projects::Project& project = opened->document.project;
    project.training.steps = arguments.integer("steps", project.training.steps);
    const Result<Sweep> sweep = chosenSweep(arguments, project);
    if (!sweep) {
        return console.fail(Exit::Usage, sweep.error());
    }
    const std::filesystem::path folder = arguments.text(
        "output",
        (opened->directory / projects::kRunsFolder / directoryName(project.name + " " + sweep->name)).string());
    Result<std::vector<Planned>> plan = planOf(project, *sweep, folder);
    if (!plan) {
        return console.fail(Exit::InvalidProject, plan.error());
    }
    if (arguments.has("list")) {
        showGrid(*sweep, *plan, console);
    }
    std::optional<Error> obstacle;
    for (const Planned& planned : *plan) {
        if (planned.member.error) {
            console.remark(planned.member.error->text());
            obstacle = Error{"", "the sweep has members that cannot train: nothing was trained"};
        }
    }
    if (obstacle) {
        return console.fail(Exit::InvalidProject, *obstacle);
    }
    if (arguments.has("list")) {
        return Exit::Ok;
    }
    const Exit ended = trainAll(*plan, opened->directory, arguments.text("device", "cpu"), console);
    if (ended != Exit::Interrupted) {
        showOutcome(*sweep, *plan, console);
        console.line("compare them with: residua-cli report " + folder.string());
    }
    return ended;
}

} // namespace

std::vector<Command> sweepCommands()
{
    return {
        {"sweep",
         "train a project once for each point of a grid",
         "residua-cli sweep my-project --vary /topology=plain,grn-v1 --steps 5",
         {{{"PROJECT", "a project's directory, its project.json, or an example's name"},
           {"NAME", "which of its sweeps (default: the only one)", Presence::Optional}},
          {{"vary", OptionKind::Text, "POINTER=V1,V2",
            "a field of project.json and its values; up to three times, instead of NAME"},
           {"list", OptionKind::Flag, "", "show the grid and its cost, and train nothing"},
           {"steps", OptionKind::Integer, "N", "steps of every member (default: the project's)", {}, 1},
           {"device", OptionKind::Text, "KEY", "cpu or cuda:N (residua-cli devices lists them)"},
           {"output", OptionKind::Text, "DIR", "folder of the runs; what is complete in it is not trained again",
            "o"}}},
         &runSweep},
    };
}

} // namespace residua::cli
