// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/sweep/sweep_plan.h"

#include "engine/base/api/data_summary.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"
#include "projects/file/store.h"
#include "projects/nodes/towers.h"
#include "projects/schema/fields.h"

#include <cctype>
#include <ranges>
#include <set>
#include <utility>

namespace residua::cli {
namespace {

using projects::Sweep;
using projects::SweepMember;

constexpr const char* kTypedSweep = "sweep";

Result<Sweep> chosenSweep(const Arguments& arguments, const projects::Project& project)
{
    if (arguments.has("vary")) {
        Result<std::vector<projects::SweepAxis>> axes = typedAxes(arguments);
        return axes ? Result<Sweep>(Sweep{kTypedSweep, *std::move(axes)}) : axes.error();
    }
    const std::string name = arguments.positional(1);
    if (name.empty() && project.sweeps.size() == 1) {
        return project.sweeps.front();
    }
    if (const Sweep* const found = projects::findSweep(project.sweeps, name)) {
        return *found;
    }
    if (project.sweeps.empty()) {
        return Error{"", "the project has no sweep; expected --vary FIELD=V1,V2,…"};
    }
    const auto names = project.sweeps | std::views::transform(&Sweep::name);
    return Error{"", (name.empty() ? "the project has several sweeps" : "the project has no sweep \"" + name + "\"") +
                         "; expected one of " + joinedText(names) + meantHint(name, names, kTypedHint)};
}

/// Returns the default folder of the runs.
std::filesystem::path defaultFolder(const NamedProject& project, const Sweep& sweep)
{
    return project.directory / projects::kRunsFolder / directoryName(project.document.project.name + " " + sweep.name);
}

} // namespace

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

Result<std::vector<projects::SweepAxis>> typedAxes(const Arguments& arguments)
{
    std::vector<projects::SweepAxis> axes;
    for (const std::string& text : arguments.texts("vary")) {
        projects::SweepAxis axis = projects::axisFrom(text);
        if (axis.field.empty() || axis.values.empty()) {
            return Error{"--vary", "got \"" + text + "\", expected FIELD=V1,V2,… such as seeds.init=1,2,3"};
        }
        axis.field = projects::pointerFrom(axis.field);
        axes.push_back(std::move(axis));
    }
    return axes;
}

Result<SweepPlan> planOf(const NamedProject& project, const Sweep& sweep, const std::filesystem::path& folder)
{
    std::vector<SweepMember> members = RESIDUA_TRY(projects::expand(project.document.project, sweep));
    SweepPlan plan{sweep, project.directory, folder, {}, projects::axesWithoutEffect(sweep, members)};
    std::set<std::string> names;
    for (SweepMember& member : members) {
        const std::string name = directoryName(member.label);
        if (!names.insert(name).second) {
            return Error{"sweep " + sweep.name,
                         "two members would be kept in " + name + "; expected labels that differ in letters or digits"};
        }
        plan.members.push_back({std::move(member), folder / name, {}});
    }
    lookAgain(plan);
    compareData(plan);
    return plan;
}

ValueOr<SweepPlan, Refusal> planFrom(const Arguments& arguments, const Console& console)
{
    if (arguments.has("prune-weakest")) {
        if (arguments.has("rungs")) {
            return Refusal{Exit::Usage, {"--rungs", "is for a sweep of a project; expected no --prune-weakest"}};
        }
        return prunedPlanFrom(arguments, console);
    }
    for (const char* const option : {"weak-by", "batches", "step", "tower"}) {
        if (arguments.has(option)) {
            return Refusal{Exit::Usage, {std::string("--") + option, "is for --prune-weakest K1,K2, which is missing"}};
        }
    }
    NamedProject opened = RESIDUA_TRY(openProject(arguments, console));
    projects::Project& project = opened.document.project;
    RESIDUA_TRY(refusing(Exit::InvalidProject, trainFor(project, arguments.integer("steps", project.training.steps))));
    const Sweep sweep = RESIDUA_TRY(refusing(Exit::Usage, chosenSweep(arguments, project)));
    if (arguments.has("steps") && projects::setsField(sweep, kSteps)) {
        return Refusal{Exit::Usage,
                       {"--steps", "sweep " + sweep.name +
                                       " varies the steps itself; expected a sweep that does not, or no "
                                       "--steps"}};
    }
    const auto rungs = arguments.has("rungs") ? projects::rungsFrom(arguments.text("rungs")) : projects::Rungs();
    const Status suits = rungs ? projects::checkRungs(*rungs, sweep, project.training.steps) : rungs.error();
    if (!suits) {
        return Refusal{Exit::Usage, {"--rungs", suits.error().text()}};
    }
    SweepPlan plan = RESIDUA_TRY(refusing(
        Exit::InvalidProject, planOf(opened, sweep, arguments.text("output", defaultFolder(opened, sweep).string()))));
    plan.rungs = *rungs;
    decideTurns(plan);
    return plan;
}

Status choose(const Arguments& arguments, SweepPlan& plan)
{
    if (arguments.has("member") && arguments.has("part")) {
        return Error{"", "--member and --part both choose members; expected one of them"};
    }
    if (arguments.has("part")) {
        const Result<projects::SweepPart> part = projects::sweepPartFrom(arguments.text("part"));
        if (!part) {
            return Error{"--part", part.error().message};
        }
        for (std::size_t i = 0; i < plan.members.size(); ++i) {
            plan.members[i].chosen = part->holds(i);
        }
    }
    if (arguments.has("member")) {
        auto members = mapped<std::vector<SweepMember>>(plan.members, &Planned::member);
        const Result<std::size_t> meant = projects::memberFrom(arguments.text("member"), members);
        if (!meant) {
            return Error{"--member", meant.error().message};
        }
        for (std::size_t i = 0; i < plan.members.size(); ++i) {
            plan.members[i].chosen = i == *meant;
        }
    }
    return Done{};
}

void lookAgain(SweepPlan& plan)
{
    for (Planned& planned : plan.members) {
        if (!std::holds_alternative<engine::member::Finished>(planned.status)) {
            planned.status = engine::memberStatus(planned.directory, planned.member.project);
        }
    }
    decideTurns(plan);
}

void decideTurns(SweepPlan& plan)
{
    if (plan.rungs.empty()) {
        return;
    }
    auto members = mapped<std::vector<projects::HalvedMember>>(plan.members, [&](const Planned& planned) {
        return engine::halvedMember(planned.directory, planned.status, plan.sweep, planned.member, plan.rungs);
    });
    const auto judge = projects::judgeOfRuns(plan.members.front().member.project);
    const std::vector<projects::HalvingTurn> turns = projects::halve(plan.rungs, members, judge);
    for (std::size_t i = 0; i < turns.size(); ++i) {
        plan.members[i].turn = turns[i];
    }
}

void compareData(SweepPlan& plan)
{
    auto runs = mapped<std::vector<engine::TrainedProject>>(plan.members, [](const Planned& planned) {
        return engine::TrainedProject{planned.directory, &planned.member.project};
    });
    const std::vector<std::string> differences = engine::otherDataOf(runs, plan.projectDirectory);
    for (std::size_t i = 0; i < plan.members.size(); ++i) {
        plan.members[i].otherData = differences[i];
    }
}

std::string statusWord(const Planned& planned)
{
    const bool isLeftOut = planned.turn.kind == projects::HalvingTurn::Kind::LeftOut &&
                           std::holds_alternative<engine::member::CutOff>(planned.status);
    return isLeftOut ? "left out at step " + groupedText(planned.turn.stopAfter) : engine::textOf(planned.status);
}

std::string statusText(const Planned& planned)
{
    return statusWord(planned) + (planned.otherData.empty() ? "" : ", other data");
}

} // namespace residua::cli
