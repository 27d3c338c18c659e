// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/engine_client.h"
#include "app/cli/terminal/terminal_text.h"
#include "engine/api/environment.h"
#include "projects/base/text.h"
#include "resources/reproductions.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <ranges>
#include <system_error>

namespace residua::cli {
namespace {

using nlohmann::json;
using resources::Coverage;
using resources::Reproduction;

constexpr std::string_view kOut = "OUT"; ///< in the table's commands: the folder
constexpr std::size_t kItemColumns = 11;
constexpr std::size_t kHereColumns = 9;

json jsonOf(const Reproduction& row)
{
    return {{"paper", row.paper},         {"item", row.item},
            {"about", row.about},         {"coverage", resources::nameOf(row.coverage)},
            {"size", row.size},           {"commands", row.commands},
            {"paperSays", row.paperSays}, {"cameOut", row.cameOut.empty() ? json() : json(row.cameOut)}};
}

/// Everything that the table says of an item.
void tell(const Reproduction& row, const Console& console)
{
    console.line(std::string(row.paper) + " " + std::string(row.item) + ": " + std::string(row.about));
    console.line("  here: " + std::string(resources::nameOf(row.coverage)) + "; " + std::string(row.size));
    for (const std::string_view command : row.commands) {
        console.line("  residua-cli " + std::string(command));
    }
    if (!row.paperSays.empty()) {
        console.line("  paper: " + std::string(row.paperSays));
    }
    if (!row.cameOut.empty()) {
        console.line("  came out: " + std::string(row.cameOut));
    }
}

std::string padded(std::string_view text, std::size_t columns)
{
    return std::string(text) + std::string(columns - std::min(columns, text.size()), ' ');
}

Exit list(const std::string& paper, const Console& console)
{
    json listed = json::array();
    for (const resources::Paper& each : resources::papers()) {
        if (!paper.empty() && paper != each.key) {
            continue;
        }
        console.line(std::string(each.key) + ": " + std::string(each.title));
        for (const Reproduction& row : resources::reproductions()) {
            if (row.paper == each.key) {
                listed.push_back(jsonOf(row));
                console.line("  " + padded(row.item, kItemColumns) +
                             padded(resources::nameOf(row.coverage), kHereColumns) + std::string(row.about));
            }
        }
        console.line("");
    }
    console.line("residua-cli reproduce PAPER ITEM --list tells more of one; without --list it runs and draws it.");
    console.value(listed);
    return Exit::Ok;
}

Refusal unknownPaper(const std::string& paper)
{
    const auto keys = resources::papers() | std::views::transform(&resources::Paper::key);
    return {Exit::Usage,
            {"", "no paper \"" + paper + "\", expected one of " + joinedText(keys, ", ") + meantHint(paper, keys)}};
}

Refusal unknownItem(const std::string& paper, const std::string& item)
{
    std::vector<std::string_view> items;
    for (const Reproduction& row : resources::reproductions()) {
        if (row.paper == paper) {
            items.push_back(row.item);
        }
    }
    return {Exit::Usage,
            {"", "the paper " + paper + " has no \"" + item + "\"; residua-cli reproduce " + paper +
                     " lists its items" + meantHint(item, items)}};
}

/// The words of a command line; what stands in double quotes is one.
std::vector<std::string> wordsOf(std::string_view line, const std::string& out)
{
    std::vector<std::string> words;
    std::string word;
    bool quoted = false;
    const auto end = [&] {
        if (!word.empty()) {
            const bool inFolder = word == kOut || word.starts_with(std::string(kOut) + "/");
            words.push_back(inFolder ? out + word.substr(kOut.size()) : word);
        }
        word.clear();
    };
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ' ' && !quoted) {
            end();
        } else {
            word += c;
        }
    }
    end();
    return words;
}

/// What the command line asks of every command that trains.
void addOptions(std::vector<std::string>& words, const Arguments& arguments)
{
    constexpr std::array<std::string_view, 3> kTrains{"train", "resume", "sweep"};
    const bool trains = std::ranges::find(kTrains, words[0]) != kTrains.end();
    for (const char* const option : {"device", "time-limit", "jobs"}) {
        const bool takes = trains && (option != std::string_view("jobs") || words[0] == "sweep");
        if (takes && arguments.has(option)) {
            words.insert(words.end(), {std::string("--") + option, arguments.text(option)});
        }
    }
    if (arguments.has("json")) {
        words.emplace_back("--json");
    }
}

/// True for a retrofit whose new run is there already, from an earlier call.
bool isBranched(const std::vector<std::string>& words)
{
    const auto option = std::ranges::find(words, "-o");
    std::error_code failed;
    return words[0] == "retrofit" && option != words.end() && option + 1 != words.end() &&
           std::filesystem::exists(std::filesystem::path(option[1]) / engine::kRunFile, failed);
}

Exit runAll(const Reproduction& row, const Arguments& arguments, const Console& console)
{
    const std::string folder = "reproductions/" + std::string(row.paper) + "/" + std::string(row.item);
    const std::string typed = arguments.text("output", folder);
    const std::string out = typed.starts_with('-') ? "./" + typed : typed; // commands read it as no option
    std::error_code failed;
    std::filesystem::create_directories(out, failed);
    if (failed) {
        return console.fail(Exit::RunFailed, {out, "cannot be made: " + failed.message()});
    }
    for (const std::string_view line : row.commands) {
        std::vector<std::string> words = wordsOf(line, out);
        if (isBranched(words)) {
            continue;
        }
        addOptions(words, arguments);
        console.line("residua-cli " + joinedText(words, " ", &shellWord));
        if (const Exit ended = runProgram(words); ended != Exit::Ok) {
            return ended;
        }
    }
    console.line("paper: " + std::string(row.paperSays));
    console.line("it is in " + out);
    json value = jsonOf(row);
    value["folder"] = out;
    console.value(value);
    return Exit::Ok;
}

Exit runReproduce(const Arguments& arguments, const Console& console)
{
    const std::string paper = arguments.positional(0);
    const std::string item = arguments.positional(1);
    const auto known = resources::papers() | std::views::transform(&resources::Paper::key);
    if (!paper.empty() && std::ranges::find(known, paper) == known.end()) {
        const Refusal refusal = unknownPaper(paper);
        return console.fail(refusal.code, refusal.error);
    }
    if (item.empty()) {
        return list(paper, console);
    }
    const Reproduction* const row = resources::findReproduction(paper, item);
    if (row == nullptr) {
        const Refusal refusal = unknownItem(paper, item);
        return console.fail(refusal.code, refusal.error);
    }
    if (arguments.has("list")) {
        tell(*row, console);
        console.value(jsonOf(*row));
        return Exit::Ok;
    }
    if (row->commands.empty()) {
        return console.fail(Exit::Usage, {paper + " " + item, "does not run here: " + std::string(row->size)});
    }
    return runAll(*row, arguments, console);
}

std::vector<std::string> paperWords()
{
    std::vector<std::string> words;
    std::ranges::transform(resources::papers(), std::back_inserter(words),
                           [](const resources::Paper& paper) { return std::string(paper.key); });
    return words;
}

std::vector<std::string> itemWords()
{
    std::vector<std::string> words;
    for (const Reproduction& row : resources::reproductions()) {
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
           {"output", OptionKind::Text, "DIR",
            "folder for runs and drawings (default: reproductions/PAPER/ITEM); what is complete in it is not "
            "trained again",
            "o"}}},
         &runReproduce,
         Yields::Files}};
}

} // namespace residua::cli
