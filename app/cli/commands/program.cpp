// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/help.h"
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/terminal/process.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <ranges>

namespace residua::cli {
namespace {

constexpr const char* kJson = "--json";

/// Returns JSON if the words request it, even if the command line is invalid.
Output outputAskedFor(std::span<const std::string> words)
{
    const auto end = std::find(words.begin(), words.end(), "--");
    return std::find(words.begin(), end, kJson) != end ? Output::Json : Output::Text;
}

/// Limits the width of help text, because very long lines are hard to read.
std::size_t helpColumns(const Console& console)
{
    constexpr std::size_t kWidest = 100;
    return std::min(console.width(), kWidest);
}

Exit showOverview(const std::vector<Command>& commands, const Console& console)
{
    console.line(overview(commands, helpColumns(console)));
    console.value(overviewJson(commands));
    return Exit::Ok;
}

Exit showVersion(const Console& console)
{
    console.line("residua-cli " RESIDUA_VERSION);
    console.value({{"program", "residua-cli"}, {"version", RESIDUA_VERSION}});
    return Exit::Ok;
}

Exit nothingAsked(const std::vector<Command>& commands, const Console& console)
{
    const Error error{"", "missing COMMAND; residua-cli --help lists them"};
    if (console.json()) {
        return console.fail(Exit::Usage, error);
    }
    console.remark(overview(commands, helpColumns(console)));
    return Exit::Usage;
}

Exit unknownCommand(const std::string& name, const std::vector<Command>& commands, const Console& console)
{
    return console.fail(Exit::Usage, {"", "unknown command \"" + shortened(name) + "\"" +
                                              meantHint(name, commands | std::views::transform(&Command::name),
                                                        kTypedHint, "; residua-cli --help lists them")});
}

Exit unknownSubcommand(const std::string& word, const Command& command, const Console& console)
{
    const PositionalSpec& expected = command.syntax.positionals.front();
    return console.fail(Exit::Usage, {"", command.name + " got \"" + shortened(word) + "\", expected " + expected.help +
                                              meantHint(word, expected.choices, kTypedHint)});
}

Exit runCall(const Call& call, Output asked)
{
    const Command& command = call.command;
    const Result<Arguments> arguments = Arguments::parse(command.syntax, call.words);
    if (!arguments) {
        const Console console(asked);
        console.fail(Exit::Usage, arguments.error());
        console.remark("residua-cli " + command.name + " --help explains it");
        return Exit::Usage;
    }
    const Console console(asked == Output::Json || arguments->has("json") ? Output::Json : Output::Text);
    if (console.json()) {
        tellQuitAsJson();
    }
    if (arguments->has("help")) {
        console.line(explanation(command, helpColumns(console)));
        console.value(explanationJson(command));
        return Exit::Ok;
    }
    if (!command.subcommands.empty()) {
        return unknownSubcommand(arguments->positional(0), command, console);
    }
    // The engine's libraries end the process if there is no current directory.
    if (const Result<std::filesystem::path> here = absolutePath("."); !here) {
        return console.fail(Exit::Usage, here.error());
    }
    return command.run(*arguments, console);
}

Exit dispatch(std::span<const std::string> words, Output asked)
{
    const Console console(asked);
    const std::vector<Command> commands = allCommands();
    while (!words.empty() && words[0] == kJson) {
        words = words.subspan(1);
    }
    if (words.empty()) {
        return nothingAsked(commands, console);
    }
    if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
        return showOverview(commands, console);
    }
    if (words[0] == "--version") {
        return showVersion(console);
    }
    const auto command =
        std::find_if(commands.begin(), commands.end(), [&](const Command& c) { return c.name == words[0]; });
    if (command == commands.end()) {
        return unknownCommand(words[0], commands, console);
    }
    const Exit ended = runCall(callOf(*command, words.subspan(1)), asked);
    const bool resultLost = console.outputLost() && command->yields == Yields::Output;
    if (command->yields != Yields::Output) {
        console.noteLostReader();
    }
    return ended == Exit::Ok && resultLost ? Exit::Usage : ended;
}

Error faultOf(const std::exception& exception)
{
    const std::string advice = "; this is a fault of residua-cli: please report it with the command line";
    if (const auto* const files = dynamic_cast<const std::filesystem::filesystem_error*>(&exception)) {
        return {files->path1().string(), "a file operation failed: " + files->code().message() + advice};
    }
    if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr) {
        return {"", "the memory is used up"};
    }
    return {"", std::string("unexpected (") + exception.what() + ")" + advice};
}

} // namespace

std::vector<Command> allCommands()
{
    std::vector<Command> commands;
    for (const auto& table : {newCommands(), projectCommands(), tokeniseCommands(), runCommands(), clusterCommands(),
                              benchCommands(), sweepCommands(), modelCommands(), importCommands(), exportCommands(),
                              drawCommands(), bundleCommands(), analyzeCommands(), reproduceCommands(),
                              recordCommands(), compareCommands(), watchCommands(), helpCommands()}) {
        commands.insert(commands.end(), table.begin(), table.end());
    }
    return commands;
}

Exit runProgram(std::span<const std::string> words)
{
    const Output asked = outputAskedFor(words);
    try {
        return dispatch(words, asked);
    } catch (const std::exception& exception) {
        return Console(asked).fail(Exit::Fault, faultOf(exception));
    }
}

} // namespace residua::cli
