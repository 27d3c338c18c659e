// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/reproduce/row_commands.h"

#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/terminal/terminal_text.h"
#include "engine/base/api/environment.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/text.h"
#include "projects/cost/cost.h"
#include "projects/studies/sweep_grid.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

namespace residua::cli {
namespace {

using nlohmann::json;

/// Returns the arguments of the words of a command in `table`; nullopt for another command.
std::optional<Arguments> argumentsOf(const std::vector<std::string>& words, const std::vector<Command>& table)
{
    const auto command = std::ranges::find(table, words[0], &Command::name);
    if (command == table.end()) {
        return std::nullopt;
    }
    Result<Arguments> parsed = Arguments::parse(command->syntax, std::span(words).subspan(1));
    return parsed ? std::optional(*std::move(parsed)) : std::nullopt;
}

/// Returns the grid that the words of a sweep mean; nullopt for another command.
std::optional<SweepPlan> planOf(const std::vector<std::string>& words, const Console& console)
{
    const std::optional<Arguments> arguments = argumentsOf(words, sweepCommands());
    if (!arguments) {
        return std::nullopt;
    }
    ValueOr<SweepPlan, Refusal> plan = planFrom(*arguments, console);
    return plan ? std::optional(*std::move(plan)) : std::nullopt;
}

void addRuns(Trained& trained, const std::vector<std::string>& words, const Console& console)
{
    if (std::optional<SweepPlan> plan = planOf(words, console)) {
        for (Planned& planned : plan->members) {
            trained.labels.push_back(planned.member.membership.labelApartFromSeeds());
            trained.projects.push_back(planned.member.error ? projects::Project() : std::move(planned.member.project));
        }
    } else if (const auto arguments = words[0] == "train" ? argumentsOf(words, runCommands()) : std::nullopt) {
        if (ValueOr<NamedProject, Refusal> named = openProject(*arguments, console)) {
            trained.labels.emplace_back();
            trained.projects.push_back(std::move(named->document.project));
        }
    }
}

/// Returns the runs whose label is one of `members`, or all if it is empty.
TrainedRuns runsOf(const Trained& trained, const std::set<std::string>& members)
{
    TrainedRuns found;
    std::set<std::uint64_t> seeds;
    std::size_t runs = 0;
    for (std::size_t i = 0; i < trained.projects.size(); ++i) {
        const projects::Project& project = trained.projects[i];
        const auto fits = [&](const std::string& member) { return namesMember(member, trained.labels[i]); };
        if (!members.empty() && std::ranges::none_of(members, fits)) {
            continue;
        }
        ++runs;
        if (seeds.insert(project.seeds.init).second || project.training.steps > found.steps) {
            const Result<projects::CostReport> cost = projects::costOf(project, projects::DeviceKind::Cpu);
            found.steps = std::max(found.steps, project.training.steps);
            found.flops = std::max(found.flops, cost ? projects::trainingFlops(project, cost->total) : 0);
        }
    }
    found.seeds = seeds.size();
    found.runs = seeds.empty() ? 0 : runs / seeds.size();
    return found;
}

/// Adjusts the runs of a row that trains one run for each seed and continues it with more steps. A comparison reads two
/// runs of a seed, or two values of one run.
void takeFurtherSteps(TrainedRuns& runs, const Reproduction& row, const Comparison& comparison)
{
    runs.runs = comparison.a.member == comparison.b.member ? 1 : 2;
    for (const std::string& line : row.commands) {
        const std::vector<std::string> words = commandWords(line, "", "");
        const auto option = std::ranges::find(words, "--steps");
        const auto steps =
            option != words.end() && option + 1 != words.end() ? numberFrom<std::int64_t>(option[1]) : std::nullopt;
        if (steps && runs.steps > 0 && *steps > runs.steps) {
            runs.flops *= static_cast<double>(*steps) / static_cast<double>(runs.steps);
            runs.steps = *steps;
        }
    }
}

/// Adds the options of this command that the command of the words takes too.
void addOptions(std::vector<std::string>& words, const Arguments& arguments)
{
    constexpr std::array<std::string_view, 4> kComputes{"train", "resume", "sweep", "bench"};
    const std::vector<Command> commands = allCommands();
    const auto command = std::ranges::find(commands, words[0], &Command::name);
    const bool computes = std::ranges::find(kComputes, words[0]) != kComputes.end();
    for (const char* const option : {"device", "threads", "time-limit", "jobs"}) {
        const bool takes =
            std::ranges::find(command->syntax.options, option, &OptionSpec::name) != command->syntax.options.end();
        if (computes && takes && arguments.has(option)) {
            words.insert(words.end(), {std::string("--") + option, arguments.text(option)});
        }
    }
    if (arguments.has("json")) {
        words.emplace_back("--json");
    }
}

/// Returns the folder after `-o`; nullopt without the option.
std::optional<std::string> outputOf(const std::vector<std::string>& words)
{
    const auto option = std::ranges::find(words, "-o");
    return option != words.end() && option + 1 != words.end() ? std::optional(option[1]) : std::nullopt;
}

/// True for a retrofit whose new run is there already, from an earlier call.
bool isBranched(const std::vector<std::string>& words)
{
    const std::optional<std::string> output = outputOf(words);
    std::error_code failed;
    return words[0] == "retrofit" && output &&
           std::filesystem::exists(std::filesystem::path(*output) / engine::kRunFile, failed);
}

/// True if nothing of a sweep is left to train, and members of it failed: they diverged, say.
bool endedWithFailures(const SweepPlan& plan)
{
    const auto hasFailed = [](const Planned& planned) {
        return std::holds_alternative<engine::member::Failed>(planned.status);
    };
    const auto hasEnded = [&](const Planned& planned) {
        return planned.otherData.empty() &&
               (hasFailed(planned) || std::holds_alternative<engine::member::Finished>(planned.status));
    };
    return std::ranges::all_of(plan.members, hasEnded) && std::ranges::any_of(plan.members, hasFailed);
}

/// Returns the folders of the runs that a command has trained and that failed. Empty for other failures.
std::vector<std::string> failedRuns(const std::vector<std::string>& words, const Console& console)
{
    std::vector<std::string> failed;
    if (const std::optional<SweepPlan> plan = planOf(words, console)) {
        for (const Planned& planned : endedWithFailures(*plan) ? plan->members : std::vector<Planned>()) {
            if (std::holds_alternative<engine::member::Failed>(planned.status)) {
                failed.push_back(planned.directory.string());
            }
        }
    } else if (const std::optional<Arguments> run = argumentsOf(words, runCommands())) {
        const std::string folder = words[0] == "train" ? run->text("run") : run->positional(0);
        if (const auto info = engine::readRunInfo(folder); info && info->status == engine::RunStatus::Failed) {
            failed.push_back(folder);
        }
    }
    return failed;
}

/// Returns the values of a side of one of the row's comparisons, by seed.
std::vector<SeededValue> valuesIn(const Given& given, const Reproduction& row, const Comparison& comparison,
                                  const Side& side)
{
    if (!side.member.starts_with(kOutPlaceholder)) {
        return comparison.sweep < given.plans.size() ? valuesOf(given.plans[comparison.sweep], side, comparison.step)
                                                     : std::vector<SeededValue>();
    }
    std::vector<std::pair<std::string, std::filesystem::path>> runs;
    for (const std::string& seed : row.seeds) {
        runs.emplace_back(seed, commandWords(side.member, given.out, seed).front());
    }
    return valuesOf(runs, side, comparison.step);
}

/// Returns the number of threads of all runs; nullopt if it is unknown or not the same.
std::optional<std::int64_t> threadsOf(const std::vector<engine::RunInfo>& runs)
{
    const bool same = std::ranges::all_of(
        runs, [&](const engine::RunInfo& run) { return run.threads > 0 && run.threads == runs.front().threads; });
    return same && !runs.empty() ? std::optional(runs.front().threads) : std::nullopt;
}

/// Returns the keys of a recording that its runs tell: device, threads and seconds_per_run.
json factsOf(const std::vector<MeasuredMember>& members)
{
    std::vector<engine::RunInfo> infos;
    std::set<std::string> devices;
    std::vector<double> seconds;
    for (const MeasuredMember& member : members) {
        for (const SeededValue& value : member.values) {
            const Result<engine::RunReader> reader = engine::RunReader::open(value.run);
            const Result<engine::RunInfo> info = reader ? reader->info() : reader.error();
            if (!info) {
                continue;
            }
            infos.push_back(*info);
            devices.insert(info->device == "cpu" ? "CPU" : info->device);
            if (const auto last = reader->lastPoint(engine::metric::kSeconds, info->step)) {
                seconds.push_back(last->value);
            }
        }
    }
    json facts{{"device", joinedText(devices, " and ")}};
    if (const std::optional<std::int64_t> threads = threadsOf(infos)) {
        facts["threads"] = *threads;
    }
    if (!seconds.empty()) {
        const auto middle = seconds.begin() + std::ssize(seconds) / 2;
        std::ranges::nth_element(seconds, middle);
        facts["seconds_per_run"] = *middle;
    }
    return facts;
}

} // namespace

Trained trainedBy(const Reproduction& row, const std::string& line, const Console& console)
{
    Trained trained;
    const bool perSeed = line.find(kSeedPlaceholder) != std::string::npos;
    for (const std::string& seed : perSeed ? row.seeds : std::vector<std::string>{{}}) {
        addRuns(trained, commandWords(line, std::string(kOutPlaceholder), seed), console);
    }
    return trained;
}

Trained trainedBy(const Reproduction& row, const Console& console)
{
    Trained all;
    for (const std::string& line : row.commands) {
        Trained one = trainedBy(row, line, console);
        std::ranges::move(one.projects, std::back_inserter(all.projects));
        std::ranges::move(one.labels, std::back_inserter(all.labels));
    }
    return all;
}

std::vector<TrainedRuns> trainedRuns(const Reproduction& row, const Console& console)
{
    if (row.comparisons.empty()) {
        return {runsOf(trainedBy(row, console), {})};
    }
    std::map<std::string, Trained> byCommand;
    std::vector<TrainedRuns> all;
    for (const Comparison& comparison : row.comparisons) {
        const std::string command = commandOf(row, comparison);
        const auto [found, isNew] = byCommand.try_emplace(command);
        if (isNew) {
            found->second = trainedBy(row, command, console);
        }
        const bool isSweep = !comparison.a.member.starts_with(kOutPlaceholder);
        all.push_back(runsOf(found->second,
                             isSweep ? std::set{comparison.a.member, comparison.b.member} : std::set<std::string>()));
        if (!isSweep) {
            takeFurtherSteps(all.back(), row, comparison);
        }
    }
    return all;
}

Computed compute(const Reproduction& row, const std::string& out, const Arguments& arguments, const Console& console)
{
    Computed computed;
    for (std::vector<std::string>& words : commandsOf(row, out)) {
        const bool needsFailed =
            std::ranges::any_of(words, [&](const std::string& word) { return computed.failed.contains(word); });
        if (needsFailed && outputOf(words)) {
            computed.failed.insert(*outputOf(words));
        }
        if (needsFailed || isBranched(words)) {
            continue;
        }
        addOptions(words, arguments);
        console.line("residua-cli " + joinedText(words, " ", &shellWord));
        const Exit ended = runProgram(words);
        if (ended == Exit::Ok || ended == Exit::Complete) { // a run of an earlier call may be complete
            continue;
        }
        computed.ended = ended;
        const std::vector<std::string> failed =
            ended == Exit::RunFailed ? failedRuns(words, console) : std::vector<std::string>();
        if (failed.empty()) {
            computed.wasStopped = true;
            return computed;
        }
        computed.failed.insert(failed.begin(), failed.end());
    }
    return computed;
}

Given resultsIn(const std::string& out, const Reproduction& row, const Console& console)
{
    Given given{{}, out};
    for (const std::vector<std::string>& words : commandsOf(row, out)) {
        if (std::optional<SweepPlan> plan = planOf(words, console)) {
            given.plans.push_back(*std::move(plan));
        }
    }
    return given;
}

std::vector<Outcome> outcomesIn(const Given& given, const Reproduction& row)
{
    std::vector<Outcome> outcomes;
    for (const Comparison& comparison : row.comparisons) {
        outcomes.push_back(outcomeOf(comparison, valuesIn(given, row, comparison, comparison.a),
                                     valuesIn(given, row, comparison, comparison.b)));
    }
    return outcomes;
}

json recordingsIn(const Given& given, const Reproduction& row)
{
    std::vector<std::pair<std::string, std::vector<MeasuredMember>>> byCommand;
    for (const Comparison& comparison : row.comparisons) {
        const std::string command = commandOf(row, comparison);
        auto of = std::ranges::find(byCommand, command, &std::pair<std::string, std::vector<MeasuredMember>>::first);
        if (of == byCommand.end()) {
            of = byCommand.insert(of, {command, {}});
        }
        for (const Side& side : {comparison.a, comparison.b}) {
            const bool isNew = std::ranges::none_of(of->second, [&](const MeasuredMember& member) {
                return member.side.member == side.member && member.side.metric == side.metric &&
                       member.step == comparison.step;
            });
            if (isNew) {
                of->second.push_back({side, comparison.step, valuesIn(given, row, comparison, side)});
            }
        }
    }
    json made = json::array();
    for (const auto& [command, members] : byCommand) {
        json recording = recordableOf(members);
        if (!recording["seeds"].empty()) {
            recording.update({{"rows", json::array({row.name()})}, {"command", command}});
            recording.update(factsOf(members));
            made.push_back(std::move(recording));
        }
    }
    return made;
}

} // namespace residua::cli
