// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/data_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/weakest_shortcuts.h"
#include "app/cli/sweep/sweep_plan.h"
#include "app/cli/sweep/sweep_training.h"
#include "app/cli/terminal/terminal_text.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

namespace residua::cli {
namespace {

namespace member = engine::member;

/// The grid given by the command line, and the chosen members.
struct Meant {
    SweepPlan plan;
    SweepTraining training;
};

ValueOr<Meant, Refusal> meantBy(const Arguments& arguments, const Console& console)
{
    SweepPlan plan = RESIDUA_TRY(planFrom(arguments, console));
    RESIDUA_TRY(refusing(Exit::Usage, choose(arguments, plan)));
    SweepTraining training;
    training.device = arguments.text("device", "cpu");
    if (const std::string again = arguments.text("again"); !again.empty()) {
        if (again != "failed") {
            return Refusal{Exit::Usage, {"--again", "got \"" + again + "\", expected failed"}};
        }
        training.failed = FailedMembers::TryAgain;
    }
    training.output = arguments.has("lines") ? MemberOutput::Lines : MemberOutput::Bar;
    training.otherData = arguments.has("other-data") ? engine::OtherData::Accept : engine::OtherData::Refuse;
    training.computing = Computing::from(arguments);
    return Meant{std::move(plan), training};
}

/// Returns the reason why the members cannot be trained, after printing every reason. The result ends the program.
std::optional<Refusal> obstacleOf(const SweepPlan& plan, engine::OtherData otherData, const Console& console)
{
    std::optional<Refusal> obstacle;
    for (const Planned& planned : plan.members) {
        if (planned.member.error) {
            console.remark(planned.member.error->text());
            obstacle =
                Refusal{Exit::InvalidProject, {"", "the sweep has members that cannot train: nothing was trained"}};
        }
    }
    if (obstacle) {
        return obstacle;
    }
    for (const Planned& planned : plan.members) {
        if (planned.chosen && std::holds_alternative<member::Foreign>(planned.status)) {
            console.remark(planned.directory.string() + ": holds the run of " + engine::describe(planned.status));
            obstacle =
                Refusal{Exit::RunFailed,
                        {plan.folder.string(), "holds runs of a project that has changed since: nothing was trained. "
                                               "Choose another folder with -o, move those runs away, or take the "
                                               "changes back"}};
        } else if (planned.chosen && !planned.otherData.empty() && otherData == engine::OtherData::Refuse) {
            console.remark(planned.directory.string() + ": was trained on other data: " + planned.otherData);
            obstacle = Refusal{Exit::RunFailed,
                               {plan.folder.string(), "holds runs that were trained on other data than the project has "
                                                      "now: nothing was trained. Choose another folder with -o, take "
                                                      "the changes back, or mix them all the same (--other-data)"}};
        }
    }
    return obstacle;
}

/// Returns the argument that is a project, or with --prune-weakest a run.
PositionalSpec subjectArgument()
{
    PositionalSpec subject = projectArgument();
    subject.help += "; with --prune-weakest a run's directory";
    return subject;
}

OptionSpec knockoutBatchesOption()
{
    return integerOption(
        "batches", "K",
        "of --prune-weakest: held-out batches that the effects are measured on (default: those of a validation)", 1);
}

OptionSpec devicesOption()
{
    OptionSpec option = deviceOption();
    option.help += "; of several with commas, cuda:0,cuda:1, each trains members of its own at the same time";
    return option;
}

/// Returns the devices of `--device`, which commas separate.
std::vector<std::string> devicesOf(const Arguments& arguments)
{
    std::vector<std::string> devices;
    for (const auto& device : arguments.text("device", "cpu") | std::views::split(',')) {
        devices.emplace_back(device.begin(), device.end());
    }
    return devices;
}

/// Returns the words of this command for one of several processes, on this device.
std::vector<std::string> wordsForOne(const Arguments& arguments, const SweepPlan& plan, const std::string& device)
{
    std::vector<std::string> words{"sweep", "--lines", "--output", plan.folder.string(), "--device", device};
    for (const char* option : {"vary", "set", "steps", "member", "part", "rungs", "again", "time-limit",
                               "prune-weakest", "weak-by", "batches", "step", "tower"}) {
        for (const std::string& value : arguments.texts(option)) {
            words.insert(words.end(), {std::string("--") + option, value});
        }
    }
    for (const char* flag : {"json", "other-data"}) {
        if (arguments.has(flag)) {
            words.push_back(std::string("--") + flag);
        }
    }
    words.insert(words.end(), {"--", arguments.positional(0)});
    if (!arguments.positional(1).empty()) {
        words.push_back(arguments.positional(1));
    }
    return words;
}

/// Trains with several processes if the command line requests them, which take turns on the devices.
std::optional<Exit> trainInJobs(const Arguments& arguments, const Meant& meant, const Console& console)
{
    const std::vector<std::string> devices = devicesOf(arguments);
    if (!arguments.has("jobs") && devices.size() < 2) {
        return std::nullopt;
    }
    const auto toDo = std::ranges::count_if(meant.plan.members, [&](const Planned& planned) {
        const bool again =
            meant.training.failed == FailedMembers::TryAgain && std::holds_alternative<member::Failed>(planned.status);
        return planned.chosen && (again || canBeTrained(planned.status));
    });
    const std::int64_t count = std::min<std::int64_t>(arguments.integer("jobs", std::ssize(devices)), toDo);
    std::vector<std::vector<std::string>> words;
    for (std::int64_t i = 0; i < count; ++i) {
        words.push_back(wordsForOne(arguments, meant.plan, devices[static_cast<std::size_t>(i) % devices.size()]));
    }
    Jobs jobs;
    jobs.threads = static_cast<std::size_t>(arguments.integer("threads", 0));
    const bool dropped = arguments.has("json") && !arguments.has("lines");
    jobs.output = dropped ? Jobs::Output::Dropped : Jobs::Output::Shown;
    return words.empty() ? Exit::Ok : runJobs(std::move(words), jobs, console);
}

Exit train(const Arguments& arguments, Meant& meant, const Console& console)
{
    SweepPlan& plan = meant.plan;
    const std::optional<Exit> ended = trainInJobs(arguments, meant, console);
    if (!ended) {
        return trainChosen(plan, meant.training, console);
    }
    lookAgain(plan);
    return *ended == Exit::Ok ? verdictOf(plan) : *ended;
}

Exit runSweep(const Arguments& arguments, const Console& console)
{
    Meant meant = RESIDUA_TRY(reported(meantBy(arguments, console), console));
    SweepPlan& plan = meant.plan;
    const bool list = arguments.has("list");
    const bool isOneOfJobs = arguments.has("lines");
    if (!isOneOfJobs) {
        for (const std::string& warning : plan.warnings) {
            console.remark("warning: " + warning);
        }
    }
    if (list) {
        showGrid(plan, console);
    }
    if (const std::optional<Refusal> obstacle = obstacleOf(plan, meant.training.otherData, console)) {
        return console.fail(obstacle->code, obstacle->error);
    }
    if (list) {
        return Exit::Ok;
    }
    const bool lines = meant.training.output == MemberOutput::Lines;
    if (!lines) {
        console.line(summaryOf(plan));
        if (const std::string estimate = estimateOf(plan); !estimate.empty()) {
            console.line(estimate);
        }
    }
    const Exit ended = train(arguments, meant, console);
    if (lines) {
        return ended;
    }
    if (endsSweep(ended)) {
        console.line(summaryOf(plan) + "; the same command goes on");
        showJson(plan, console);
        return ended;
    }
    compareData(plan);
    showOutcome(plan, console);
    const auto failed = [](const Planned& planned) { return std::holds_alternative<member::Failed>(planned.status); };
    if (std::ranges::any_of(plan.members, failed)) {
        console.line("train the failed members again, from their last checkpoints, with: --again failed");
    }
    console.line("compare them with: residua-cli report " + shellWord(plan.folder.string()));
    return ended;
}

} // namespace

std::vector<Command> sweepCommands()
{
    return {
        {"sweep",
         "train a project once for each point of a grid",
         "residua-cli sweep my-project --vary /topology=plain,grn-v1 --steps 5",
         {{subjectArgument(), {"NAME", "which of its sweeps (default: the only one)", Presence::Optional}},
          {offering(OptionSpec{"vary", OptionKind::Text, "FIELD=V1,V2",
                               "a field of project.json by its pointer or with dots, and its values, or a range of "
                               "numbers: 1..3, or 1e-4..1e-2:5 in equal ratios; up to three times, instead of NAME. "
                               "seeds=1..3 sets all seeds but that of the data"},
                    axisWords()),
           setOption(),
           {"list", OptionKind::Flag, "", "show the grid, its cost and how far each member is, and train nothing"},
           {"member", OptionKind::Text, "LABEL", "train this member alone: its label, or its number in the grid as #3"},
           {"part", OptionKind::Text, "K/N", "train members K, K+N, K+2N, … alone, as one of N jobs"},
           {"jobs", OptionKind::Integer, "N", "train with N processes of this machine at once", {}, 1},
           integerOption("threads", "N", "of each process (default: the processors, which --jobs shares evenly)", 1),
           {"rungs", OptionKind::Text, "N1,N2",
            "stop the losers early: all members train to step N1, the better half of them (over seeds) to N2, and so "
            "on; "
            "without it, members that were left out go on to their last step"},
           {"again", OptionKind::Text, "failed", "also train members that failed before, from their last checkpoints"},
           {"lines", OptionKind::Flag, "", "for logs: a line for each event, with its member, and no table"},
           fieldOption(kSteps, "steps", "N",
                       "steps of every member (default: the project's), or with --prune-weakest further ones; refused "
                       "for an axis over steps"),
           {"prune-weakest", OptionKind::Text, "K1,K2",
            "go on with a trained RUN without its K weakest shortcuts, for each number K or share such as 50%"},
           weakByOption("of --prune-weakest"),
           knockoutBatchesOption(),
           integerOption("step", "N", "of --prune-weakest: RUN's checkpoint of this step (default: the last)", 0),
           {"tower", OptionKind::Text, "NAME",
            "of --prune-weakest: the tower that loses shortcuts (default: the first)"},
           {"other-data", OptionKind::Flag, "", "go on though members were trained on other data than the project has"},
           timeLimitOption(),
           devicesOption(),
           {"output", OptionKind::Text, "DIR",
            "folder of the runs; what is complete in it is not trained again, and processes that name the same folder "
            "share the grid",
            "o"}}},
         &runSweep,
         Yields::Files},
    };
}

} // namespace residua::cli
