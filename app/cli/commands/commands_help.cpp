// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/help.h"
#include "app/cli/commands/commands.h"
#include "app/cli/terminal/terminal_text.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"
#include "resources/help.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace residua::cli {
namespace {

using nlohmann::json;
using resources::HelpTopic;

constexpr std::size_t kWidestText = 100; ///< columns; longer lines are hard to read

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

Exit runExplain(const Arguments& arguments, const Console& console)
{
    const std::string word = arguments.positional(0);
    if (word.empty()) {
        return listTopics(console);
    }
    const HelpTopic* const topic = resources::findTopic(word);
    if (topic == nullptr) {
        return console.fail(Exit::Usage, {"", "no topic \"" + word + "\"" +
                                                  meantHint(word, resources::topicWords(), kTypedHint,
                                                            "; residua-cli explain lists them")});
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
        if (const Status written = writeOutput(folder / (name + ".1"), text); !written) {
            return console.fail(Exit::Usage, written.error());
        }
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
         {{{"TOPIC", "a method, preset, node kind, optimiser, law or data source (default: list them)",
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
