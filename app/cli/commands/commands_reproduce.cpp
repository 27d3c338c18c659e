// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/reproduce/comparisons.h"
#include "app/cli/reproduce/reproductions.h"
#include "app/cli/runs/engine_client.h"
#include "app/cli/sweep/sweep_plan.h"
#include "app/cli/terminal/terminal_text.h"
#include "engine/base/api/environment.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <system_error>
#include <utility>
#include <variant>

namespace residua::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kItemColumns = 11;
constexpr std::size_t kHereColumns = 9;
constexpr std::size_t kVerdictColumns = 13;

json jsonOf(const Reproduction& row)
{
    json recorded = json::array();
    for (const Recording* const recording : recordingsOf(row)) {
        recorded.push_back(jsonOf(*recording));
    }
    json comparisons = json::array();
    for (const Comparison& comparison : row.comparisons) {
        comparisons.push_back(jsonOf(comparison, recordedOutcome(row, comparison)));
    }
    const std::optional<projects::Verdict> verdict = recordedVerdict(row);
    return {{"paper", row.paper},
            {"item", row.item},
            {"about", row.about},
            {"coverage", nameOf(row.coverage)},
            {"size", row.size},
            {"commands", row.commands},
            {"seeds", row.seeds},
            {"wider", row.wider},
            {"paperSays", row.paperSays},
            {"recorded", recorded},
            {"comparisons", comparisons},
            {"verdict", verdict ? json(projects::textOf(*verdict)) : json()},
            {"needs", needsOf(row, recordedOutcomes(row))}};
}

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

/// Returns the grids of the row's sweeps, in order.
std::vector<SweepPlan> plansOf(const Reproduction& row, const std::string& out, const Console& console)
{
    std::vector<SweepPlan> plans;
    for (const std::vector<std::string>& words : commandsOf(row, out)) {
        if (const std::optional<Arguments> arguments = argumentsOf(words, sweepCommands())) {
            std::variant<SweepPlan, Refusal> plan = planFrom(*arguments, console);
            if (auto* const made = std::get_if<SweepPlan>(&plan)) {
                plans.push_back(std::move(*made));
            }
        }
    }
    return plans;
}

/// Returns the projects that the row's commands train, each once for each run.
std::vector<projects::Project> trainedBy(const Reproduction& row, const Console& console)
{
    std::vector<projects::Project> trained;
    for (SweepPlan& plan : plansOf(row, std::string(kOutPlaceholder), console)) {
        for (Planned& planned : plan.members) {
            trained.push_back(std::move(planned.member.project));
        }
    }
    for (const std::vector<std::string>& words : commandsOf(row, std::string(kOutPlaceholder))) {
        const std::optional<Arguments> arguments =
            words[0] == "train" ? argumentsOf(words, runCommands()) : std::nullopt;
        if (arguments) {
            std::variant<NamedProject, Refusal> named = openProject(*arguments, console);
            if (auto* const made = std::get_if<NamedProject>(&named)) {
                trained.push_back(std::move(made->document.project));
            }
        }
    }
    return trained;
}

/// Formats numbers without repetition: "8 layers", "4, 8 and 12 layers".
std::string countsText(std::vector<std::int64_t> counts)
{
    std::ranges::sort(counts);
    const auto [first, last] = std::ranges::unique(counts);
    counts.erase(first, last);
    std::string text = joinedText(counts, ", ", [](std::int64_t count) { return groupedText(count); });
    const std::size_t comma = text.rfind(", ");
    return comma == std::string::npos ? text : text.replace(comma, 2, " and ");
}

/// Returns the training that the commands ask for, as the projects have it; empty if they train nothing.
std::string trainingText(const Reproduction& row, const Console& console)
{
    const std::vector<projects::Project> trained = trainedBy(row, console);
    if (trained.empty()) {
        return {};
    }
    const auto counts = [&](const auto& of) {
        std::vector<std::int64_t> values;
        std::ranges::transform(trained, std::back_inserter(values), of);
        return countsText(std::move(values));
    };
    return std::to_string(trained.size()) + (trained.size() == 1 ? " run: " : " runs: ") +
           counts([](const projects::Project& project) { return project.network.depth(); }) + " layers of width " +
           counts([](const projects::Project& project) { return project.stack().width; }) + ", " +
           counts([](const projects::Project& project) { return project.training.steps; }) +
           " steps, seed of the weights " +
           counts([](const projects::Project& project) { return static_cast<std::int64_t>(project.seeds.init); });
}

void tellRecordings(const Reproduction& row, const Console& console)
{
    for (const Recording* const recording : recordingsOf(row)) {
        std::string lead = "  recorded: ";
        for (const std::string& line : linesOf(*recording)) {
            console.line(lead + line);
            lead = "    ";
        }
    }
}

/// Prints the content of the table for one item.
void tell(const Reproduction& row, const Console& console)
{
    console.line(row.name() + ": " + row.about);
    console.line("  here: " + std::string(nameOf(row.coverage)) + "; " + row.size);
    if (const std::string training = trainingText(row, console); !training.empty()) {
        console.line("  trains " + training);
    }
    for (const std::string& command : row.commands) {
        console.line("  residua-cli " + command);
    }
    if (!row.seeds.empty()) {
        console.line("  " + std::string(kSeedPlaceholder) + ": " + joinedText(row.seeds, ", "));
    }
    for (const std::string& command : row.wider) {
        console.line("  wider, not run here: residua-cli " + command);
    }
    if (!row.paperSays.empty()) {
        console.line("  paper: " + row.paperSays);
    }
    tellRecordings(row, console);
}

/// Prints the comparisons with their verdicts, and what it would take to decide an open one.
void tellVerdict(const Reproduction& row, const std::vector<Outcome>& now, const Console& console)
{
    if (!row.comparisons.empty()) {
        console.line("");
        console.line(console.table(comparisonTable(row, now)));
    } else if (const std::optional<projects::Verdict> verdict = recordedVerdict(row)) {
        console.line("  as recorded: " + std::string(projects::textOf(*verdict)));
    }
    for (const std::string& need : needsOf(row, now.empty() ? recordedOutcomes(row) : now)) {
        console.line("  open: " + need);
    }
}

std::string padded(std::string_view text, std::size_t columns)
{
    return std::string(text) + std::string(columns - std::min(columns, text.size()), ' ');
}

Exit list(const std::string& paper, const Console& console)
{
    json listed = json::array();
    for (const Paper& each : papers()) {
        if (!paper.empty() && paper != each.key) {
            continue;
        }
        console.line(each.key + ": " + each.title);
        for (const Reproduction& row : reproductions()) {
            if (row.paper == each.key) {
                listed.push_back(jsonOf(row));
                const std::optional<projects::Verdict> verdict = recordedVerdict(row);
                console.line("  " + padded(row.item, kItemColumns) + padded(nameOf(row.coverage), kHereColumns) +
                             padded(verdict ? projects::textOf(*verdict) : "", kVerdictColumns) + row.about);
            }
        }
        console.line("");
    }
    console.line("agrees, differs, cannot tell: the sign of the paper's differences against those recorded here.");
    console.line("residua-cli reproduce PAPER ITEM --list tells more of one; without --list it runs and draws it.");
    console.value(listed);
    return Exit::Ok;
}

Refusal unknownPaper(const std::string& paper)
{
    const auto keys = papers() | std::views::transform(&Paper::key);
    return {Exit::Usage,
            {"", "no paper \"" + paper + "\", expected one of " + joinedText(keys, ", ") + meantHint(paper, keys)}};
}

Refusal unknownItem(const std::string& paper, const std::string& item)
{
    std::vector<std::string_view> items;
    for (const Reproduction& row : reproductions()) {
        if (row.paper == paper) {
            items.push_back(row.item);
        }
    }
    return {Exit::Usage,
            {"", "the paper " + paper + " has no \"" + item + "\"; residua-cli reproduce " + paper +
                     " lists its items" + meantHint(item, items)}};
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

/// Returns the folders of the runs that a command has trained and that failed. Empty if the command ended for another
/// reason.
std::vector<std::string> failedRuns(const std::vector<std::string>& words, const Console& console)
{
    std::vector<std::string> failed;
    if (const std::optional<Arguments> sweep = argumentsOf(words, sweepCommands())) {
        const std::variant<SweepPlan, Refusal> plan = planFrom(*sweep, console);
        const auto* const made = std::get_if<SweepPlan>(&plan);
        for (const Planned& planned :
             made != nullptr && endedWithFailures(*made) ? made->members : std::vector<Planned>()) {
            if (std::holds_alternative<engine::member::Failed>(planned.status)) {
                failed.push_back(planned.directory.string());
            }
        }
    } else if (const std::optional<Arguments> run = argumentsOf(words, runCommands())) {
        const std::string folder = words[0] == "train" ? run->text("run") : run->positional(0);
        const Result<engine::RunReader> reader = engine::RunReader::open(folder);
        if (const auto info = reader ? reader->info() : reader.error();
            info && info->status == engine::RunStatus::Failed) {
            failed.push_back(folder);
        }
    }
    return failed;
}

/// The end of a row's commands.
struct Computed {
    Exit ended = Exit::Ok;
    bool wasStopped = false;      ///< a command could not do its work: those after it did not run
    std::set<std::string> failed; ///< folders of failed runs, and of what would build on them
};

/// Runs the row's commands in order. A failed run is a result that comparisons leave out: only the commands that need
/// it do not run.
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

/// The results of a row's commands in a folder.
struct Given {
    std::vector<SweepPlan> plans;
    std::string out;
    std::string device;
};

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

std::vector<Outcome> outcomesIn(const Given& given, const Reproduction& row)
{
    std::vector<Outcome> outcomes;
    for (const Comparison& comparison : row.comparisons) {
        outcomes.push_back(outcomeOf(comparison, valuesIn(given, row, comparison, comparison.a),
                                     valuesIn(given, row, comparison, comparison.b)));
    }
    return outcomes;
}

/// Returns the values of the row's comparisons as recordings in the form of resources/reproductions.json, which lack
/// the commit. A command without values has none.
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
            recording.update({{"rows", json::array({row.name()})}, {"command", command}, {"device", given.device}});
            made.push_back(std::move(recording));
        }
    }
    return made;
}

Exit runAll(const Reproduction& row, const Arguments& arguments, const Console& console)
{
    const std::string folder = "reproductions/" + row.paper + "/" + row.item;
    const std::string typed = arguments.text("output", folder);
    const std::string out = typed.starts_with('-') ? "./" + typed : typed; // commands read it as no option
    std::error_code failed;
    std::filesystem::create_directories(out, failed);
    if (failed) {
        return console.fail(Exit::RunFailed, {out, "cannot be made: " + failed.message()});
    }
    const Computed computed = compute(row, out, arguments, console);
    if (computed.wasStopped) {
        return computed.ended;
    }
    const Given given{plansOf(row, out, console), out, arguments.text("device", "cpu")};
    const std::vector<Outcome> now = outcomesIn(given, row);
    console.line("");
    console.line("  paper: " + row.paperSays);
    tellRecordings(row, console);
    tellVerdict(row, now, console);
    for (const std::string& run : computed.failed) {
        console.line("  left out: " + run + ", which failed or needs a run that failed");
    }
    console.line("it is in " + out);
    json value = jsonOf(row);
    value["folder"] = out;
    value["now"] = json::array();
    for (std::size_t i = 0; i < now.size(); ++i) {
        value["now"].push_back(jsonOf(row.comparisons[i], now[i]));
    }
    value["recordings"] = recordingsIn(given, row);
    value["failed"] = computed.failed;
    console.value(value);
    return computed.ended;
}

Exit runReproduce(const Arguments& arguments, const Console& console)
{
    const std::string paper = arguments.positional(0);
    const std::string item = arguments.positional(1);
    const auto known = papers() | std::views::transform(&Paper::key);
    if (!paper.empty() && std::ranges::find(known, paper) == known.end()) {
        const Refusal refusal = unknownPaper(paper);
        return console.fail(refusal.code, refusal.error);
    }
    if (item.empty()) {
        return list(paper, console);
    }
    const Reproduction* const row = findReproduction(paper, item);
    if (row == nullptr) {
        const Refusal refusal = unknownItem(paper, item);
        return console.fail(refusal.code, refusal.error);
    }
    if (arguments.has("list")) {
        tell(*row, console);
        tellVerdict(*row, {}, console);
        console.value(jsonOf(*row));
        return Exit::Ok;
    }
    if (row->commands.empty()) {
        return console.fail(Exit::Usage, {paper + " " + item, "does not run here: " + row->size});
    }
    return runAll(*row, arguments, console);
}

std::vector<std::string> paperWords()
{
    std::vector<std::string> words;
    std::ranges::transform(papers(), std::back_inserter(words),
                           [](const Paper& paper) { return std::string(paper.key); });
    return words;
}

std::vector<std::string> itemWords()
{
    std::vector<std::string> words;
    for (const Reproduction& row : reproductions()) {
        if (std::ranges::find(words, row.item) == words.end()) {
            words.emplace_back(row.item);
        }
    }
    return words;
}

} // namespace

std::vector<Command> reproduceCommands()
{
    return {
        {"reproduce",
         "list the papers' tables and figures with what runs here, or run one and draw it",
         "residua-cli reproduce nlra figure-3",
         {{{"PAPER", "dca, ancre, raptr or nlra (default: all)", Presence::Optional, paperWords()},
           {"ITEM", "a table or figure, such as figure-1 or table-7 (default: list them)", Presence::Optional,
            itemWords()}},
          {{"list", OptionKind::Flag, "", "tell what would run, what the paper says and what came out; run nothing"},
           {"jobs", OptionKind::Integer, "N", "train the members of a sweep with N processes at once", {}, 1},
           timeLimitOption(),
           deviceOption(),
           threadsOption(),
           {"output", OptionKind::Text, "DIR",
            "folder for runs and drawings (default: reproductions/PAPER/ITEM); what is complete in it is not "
            "trained again",
            "o"}}},
         &runReproduce,
         Yields::Files}};
}

} // namespace residua::cli
