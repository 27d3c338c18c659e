// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/help.h"
#include "app/cli/commands/commands.h"
#include "app/cli/terminal/terminal_text.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"
#include "projects/shipped/examples.h"
#include "resources/help.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

namespace residua::cli {
namespace {

using nlohmann::json;
using resources::HelpTopic;

constexpr std::size_t kWidestText = 100; ///< columns; longer lines are hard to read
constexpr std::size_t kMostMentions = 5; ///< pages that are named

json jsonOf(const HelpTopic& topic)
{
    return {{"name", topic.name},
            {"title", topic.title},
            {"summary", topic.summary},
            {"group", topic.group},
            {"aliases", topic.aliases}};
}

Exit listTopics(const Console& console)
{
    std::size_t width = 0;
    for (const HelpTopic& topic : resources::helpTopics()) {
        width = std::max(width, topic.name.size());
    }
    json list = json::array();
    std::string group;
    for (const HelpTopic& topic : resources::helpTopics()) {
        if (topic.group != group) {
            group = topic.group;
            console.line("\n" + group);
        }
        console.line("  " + topic.name + std::string(width + 2 - topic.name.size(), ' ') + topic.title);
        list.push_back(jsonOf(topic));
    }
    console.line(
        "\nresidua-cli explain NAME prints a page; the names of presets, node kinds and laws find theirs too.");
    console.value(list);
    return Exit::Ok;
}

/// Prints an example's card, and how to make a project of it.
Exit explainExample(const projects::ExampleCard& card, const Console& console)
{
    const std::string topology = projects::exampleProject(card.name).stack().topology.preset;
    const HelpTopic* const method = resources::findTopic(topology);
    const std::string name = card.name;
    console.line(std::string("The example ") + card.title + ". " + card.summary + ".");
    console.line("residua-cli new --example " + name + " DIR makes a project of it" +
                 (method == nullptr ? "" : "; residua-cli explain " + method->name + " explains its topology") + ".");
    console.value({{"example", name},
                   {"title", card.title},
                   {"summary", card.summary},
                   {"topology", method == nullptr ? json() : json(method->name)}});
    return Exit::Ok;
}

/// Returns how often a text has a word that is no part of a longer one, whatever their case.
std::size_t mentions(std::string_view text, std::string_view word)
{
    const auto isLetter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    const auto isSame = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    std::size_t count = 0;
    for (auto at = text.begin(); at != text.end();) {
        const auto found = std::search(at, text.end(), word.begin(), word.end(), isSame);
        if (found == text.end()) {
            break;
        }
        at = found + static_cast<std::ptrdiff_t>(word.size());
        count += (found == text.begin() || !isLetter(*(found - 1))) && (at == text.end() || !isLetter(*at)) ? 1 : 0;
    }
    return count;
}

/// Returns the names of the pages that mention a word most, as text; empty if none does.
std::string pagesThatMention(const std::string& word)
{
    std::vector<std::pair<std::size_t, std::string>> pages;
    for (const HelpTopic& topic : resources::helpTopics()) {
        if (const std::size_t count = mentions(topic.text, word); count > 0) {
            pages.emplace_back(count, topic.name);
        }
    }
    std::ranges::stable_sort(pages, std::ranges::greater(), &std::pair<std::size_t, std::string>::first);
    pages.resize(std::min(pages.size(), kMostMentions));
    return joinedText(pages, ", ", &std::pair<std::size_t, std::string>::second);
}

Exit runExplain(const Arguments& arguments, const Console& console)
{
    const std::string word = arguments.positional(0);
    if (word.empty()) {
        return listTopics(console);
    }
    const HelpTopic* const topic = resources::findTopic(word);
    if (topic == nullptr) {
        const auto cards = projects::exampleCards();
        const auto card =
            std::ranges::find_if(cards, [&word](const projects::ExampleCard& each) { return each.name == word; });
        if (card != cards.end()) {
            return explainExample(*card, console);
        }
        const std::string pages = pagesThatMention(word);
        return console.fail(Exit::Usage, {"", "no topic \"" + word + "\"" +
                                                  (pages.empty() ? meantHint(word, resources::topicWords(), kTypedHint,
                                                                             "; residua-cli explain lists them")
                                                                 : "; it is mentioned in " + pages)});
    }
    console.line(terminalText(topic->text, std::min(console.width(), kWidestText)));
    json value = jsonOf(*topic);
    value["text"] = topic->text;
    console.value(value);
    return Exit::Ok;
}

Exit runCompletion(const Arguments& arguments, const Console& console)
{
    const std::optional<Shell> shell = shellFrom(arguments.positional(0));
    if (!shell) {
        return console.fail(Exit::Usage, {"", "got the shell \"" + shortened(arguments.positional(0)) +
                                                  "\", expected bash, zsh or fish"});
    }
    const std::string script = completionScript(*shell, allCommands());
    console.data(script);
    console.value({{"shell", arguments.positional(0)}, {"script", script}});
    return Exit::Ok;
}

/// Writes every page as a file of the folder.
Exit writePages(const std::filesystem::path& folder, const Console& console)
{
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    if (code) {
        return console.fail(Exit::Usage, {folder.string(), "cannot be made: " + code.message()});
    }
    const std::vector<Command> commands = allCommands();
    std::vector<std::pair<std::string, std::string>> pages{{"residua-cli", manPage(commands)}};
    for (const Command& command : commands) {
        pages.emplace_back("residua-cli-" + command.name, manPage(command));
    }
    for (const auto& [name, text] : pages) {
        RESIDUA_TRY_OR_FAIL(Exit::Usage, writeOutput(folder / (name + ".1"), text));
    }
    console.line("wrote " + std::to_string(pages.size()) + " pages to " + folder.string());
    console.value({{"pages", pages.size()}, {"folder", folder.string()}});
    return Exit::Ok;
}

Exit runMan(const Arguments& arguments, const Console& console)
{
    if (arguments.has("output")) {
        return writePages(arguments.text("output"), console);
    }
    const std::string name = arguments.positional(0);
    const std::vector<Command> commands = allCommands();
    const auto command = std::ranges::find(commands, name, &Command::name);
    if (!name.empty() && command == commands.end()) {
        return console.fail(Exit::Usage, {"", "no command \"" + shortened(name) + "\"; residua-cli --help lists them"});
    }
    const std::string page = name.empty() ? manPage(commands) : manPage(*command);
    console.data(page);
    console.value({{"page", page}});
    return Exit::Ok;
}

} // namespace

std::vector<Command> helpCommands()
{
    return {
        {"explain",
         "say what a method computes: its equation, start, cost and source",
         "residua-cli explain ancre",
         {{{"TOPIC", "a method, preset, node kind, optimiser, law, data source or example (default: list them)",
            Presence::Optional, topicNames()}},
          {}},
         &runExplain},
        {"completion",
         "print a script that completes commands, options, names and fields in a shell",
         "residua-cli completion bash",
         {{{"SHELL", "bash, zsh or fish", Presence::Required, {"bash", "zsh", "fish"}}}, {}},
         &runCompletion},
        {"man",
         "print a manual page, to be shown by man -l or installed",
         "residua-cli man train",
         {{{"COMMAND", "the command (default: the program)", Presence::Optional}},
          {{"output", OptionKind::Text, "DIR", "write every page to this folder instead", "o"}}},
         &runMan},
    };
}

} // namespace residua::cli
