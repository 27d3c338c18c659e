// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands/commands.h"
#include "app/cli/reproduce/comparisons.h"
#include "app/cli/reproduce/reproductions.h"
#include "app/cli/reproduce/row_commands.h"
#include "app/cli/runs/engine_client.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace residua::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kItemColumns = 11;
constexpr std::size_t kHereColumns = 9;
constexpr std::size_t kVerdictColumns = 13;

/// Returns what would decide the row's open comparisons by these outcomes.
std::vector<Need> openIn(const Reproduction& row, const std::vector<Outcome>& outcomes, const Console& console)
{
    return needsOf(row, outcomes, trainedRuns(row, console));
}

json jsonOf(const Reproduction& row, const Console& console)
{
    json needs =
        mapped<json>(openIn(row, recordedOutcomes(row), console), [&](const Need& need) { return textOf(need); });
    json recorded =
        mapped<json>(recordingsOf(row), [&](const Recording* const recording) { return jsonOf(*recording); });
    auto comparisons = mapped<json>(row.comparisons, [&](const Comparison& comparison) {
        return jsonOf(comparison, recordedOutcome(row, comparison));
    });
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
            {"needs", needs}};
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
    const std::vector<projects::Project> trained = trainedBy(row, console).projects;
    if (trained.empty()) {
        return {};
    }
    const auto counts = [&](const auto& of) {
        auto values = mapped<std::vector<std::int64_t>>(trained, of);
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
    for (const Need& need : openIn(row, now.empty() ? recordedOutcomes(row) : now, console)) {
        console.line("  open: " + textOf(need));
    }
}

std::string padded(std::string_view text, std::size_t columns)
{
    return std::string(text) + std::string(columns - std::min(columns, text.size()), ' ');
}

/// Prints the row's verdict, and each answer once to what would decide its open comparisons.
void tellInList(const Reproduction& row, const Console& console)
{
    const std::optional<projects::Verdict> verdict = recordedVerdict(row);
    console.line("  " + padded(row.item, kItemColumns) + padded(nameOf(row.coverage), kHereColumns) +
                 padded(verdict ? projects::textOf(*verdict) : "", kVerdictColumns) + row.about);
    std::set<std::string> told;
    for (const Need& need : openIn(row, recordedOutcomes(row), console)) {
        if (told.insert(need.text).second) {
            console.line("  " + padded("", kItemColumns + kHereColumns) + "open: " + need.text);
        }
    }
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
                listed.push_back(jsonOf(row, console));
                tellInList(row, console);
            }
        }
        console.line("");
    }
    console.line("agrees, differs, cannot tell: the sign of the paper's differences against those recorded here.");
    console.line("residua-cli reproduce PAPER ITEM --list tells more of one; without --list it runs and draws it.");
    console.value(listed);
    return Exit::Ok;
}

Error unknownPaper(const std::string& paper)
{
    const auto keys = papers() | std::views::transform(&Paper::key);
    return {"", "no paper \"" + paper + "\", expected one of " + joinedText(keys, ", ") + meantHint(paper, keys)};
}

Error unknownItem(const std::string& paper, const std::string& item)
{
    auto items = mapped<std::vector<std::string_view>>(
        reproductions() | std::views::filter([&](const Reproduction& row) { return row.paper == paper; }),
        &Reproduction::item);
    return {"", "the paper " + paper + " has no \"" + item + "\"; residua-cli reproduce " + paper + " lists its items" +
                    meantHint(item, items)};
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
    const Given given = resultsIn(out, row, console);
    const std::vector<Outcome> now = outcomesIn(given, row);
    console.line("");
    console.line("  paper: " + row.paperSays);
    tellRecordings(row, console);
    tellVerdict(row, now, console);
    for (const std::string& run : computed.failed) {
        console.line("  left out: " + run + ", which failed or needs a run that failed");
    }
    console.line("it is in " + out);
    json value = jsonOf(row, console);
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
        return console.fail(Exit::Usage, unknownPaper(paper));
    }
    if (item.empty()) {
        return list(paper, console);
    }
    const Reproduction* const row = findReproduction(paper, item);
    if (row == nullptr) {
        return console.fail(Exit::Usage, unknownItem(paper, item));
    }
    if (arguments.has("list")) {
        tell(*row, console);
        tellVerdict(*row, {}, console);
        console.value(jsonOf(*row, console));
        return Exit::Ok;
    }
    if (row->commands.empty()) {
        return console.fail(Exit::Usage, {paper + " " + item, "does not run here: " + row->size});
    }
    return runAll(*row, arguments, console);
}

std::vector<std::string> paperWords()
{
    return mapped<std::vector<std::string>>(papers(), [](const Paper& paper) { return std::string(paper.key); });
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
    return {{"reproduce",
             "list the papers' tables and figures with what runs here, or run one and draw it",
             "residua-cli reproduce nlra figure-3",
             {{{"PAPER", "dca, ancre, raptr or nlra (default: all)", Presence::Optional, paperWords()},
               {"ITEM", "a table or figure, such as figure-1 or table-7 (default: list them)", Presence::Optional,
                itemWords()}},
              {{"list", OptionKind::Flag, "",
                "tell what would run, what the paper says, what came out and what would decide it; run nothing"},
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
