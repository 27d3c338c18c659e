// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"

#include <algorithm>
#include <iterator>

namespace residua::cli {
namespace {

constexpr const char* kIntroduction = "residua-cli: make, train and question projects without a window\n";
constexpr const char* kExits =
    "Exit codes: 0 ok · 1 wrong command line, or a file cannot be written · 2 the project is invalid\n"
    "            3 a run or a question to it failed · 130 interrupted, after a checkpoint";

std::vector<Command> allCommands()
{
    std::vector<Command> commands;
    for (const auto& table : {projectCommands(), runCommands(), sweepCommands(), modelCommands(), analyzeCommands(),
                              recordCommands(), explainCommands()}) {
        commands.insert(commands.end(), table.begin(), table.end());
    }
    return commands;
}

std::string overview(const std::vector<Command>& commands)
{
    std::string text = std::string(kIntroduction) + "\nUsage: residua-cli COMMAND [ARGUMENTS] [--json]\n\n";
    for (const Command& command : commands) {
        text += "  " + command.name + std::string(10 - std::min<std::size_t>(command.name.size(), 9), ' ') +
                command.summary + "\n";
    }
    return text + "\nresidua-cli COMMAND --help explains a command and shows an example.\n" + kExits;
}

std::string optionLabel(const OptionSpec& option)
{
    return (option.shortName.empty() ? "" : "-" + option.shortName + ", ") + "--" + option.name +
           (option.value.empty() ? "" : " " + option.value);
}

std::string explanation(const Command& command)
{
    std::string usage = "Usage: residua-cli " + command.name;
    std::vector<std::pair<std::string, std::string>> rows;
    for (const PositionalSpec& positional : command.syntax.positionals) {
        const bool required = positional.presence == Presence::Required;
        usage += required ? " " + positional.name : " [" + positional.name + "]";
        rows.emplace_back(positional.name, positional.help);
    }
    for (const OptionSpec& option : command.syntax.options) {
        rows.emplace_back(optionLabel(option), option.help);
    }
    rows.emplace_back("--json", "print JSON");
    std::size_t width = 0;
    for (const auto& [label, help] : rows) {
        width = std::max(width, label.size());
    }
    std::string text = command.summary + "\n\n" + usage + " [OPTIONS]\n\n";
    for (const auto& [label, help] : rows) {
        text += "  " + label + std::string(width - label.size() + 2, ' ') + help + "\n";
    }
    return text + "\nExample:\n  " + command.example;
}

Exit unknownCommand(const std::string& name, const std::vector<Command>& commands, const Console& console)
{
    std::vector<std::string> names;
    std::transform(commands.begin(), commands.end(), std::back_inserter(names),
                   [](const Command& c) { return c.name; });
    const std::string meant = nearest(name, names);
    return console.fail(
        Exit::Usage, {"", "unknown command \"" + name + "\"" +
                              (meant.empty() ? "; residua-cli --help lists them" : ", did you mean " + meant + "?")});
}

} // namespace

Exit runProgram(std::span<const std::string> words)
{
    const std::vector<Command> commands = allCommands();
    const Console plain(Output::Text);
    if (words.empty()) {
        plain.remark(overview(commands));
        return Exit::Usage;
    }
    if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
        plain.line(overview(commands));
        return Exit::Ok;
    }
    if (words[0] == "--version") {
        plain.line("residua-cli " RESIDUA_VERSION);
        return Exit::Ok;
    }
    const auto command =
        std::find_if(commands.begin(), commands.end(), [&](const Command& c) { return c.name == words[0]; });
    if (command == commands.end()) {
        return unknownCommand(words[0], commands, plain);
    }
    const Result<Arguments> arguments = Arguments::parse(command->syntax, words.subspan(1));
    if (!arguments) {
        plain.fail(Exit::Usage, arguments.error());
        plain.remark("residua-cli " + command->name + " --help explains it");
        return Exit::Usage;
    }
    if (arguments->has("help")) {
        plain.line(explanation(*command));
        return Exit::Ok;
    }
    return command->run(*arguments, Console(arguments->has("json") ? Output::Json : Output::Text));
}

} // namespace residua::cli
