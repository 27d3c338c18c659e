// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/help.h"

#include "app/cli/terminal/terminal_text.h"
#include "projects/base/ranges.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>

namespace residua::cli {
namespace {

using nlohmann::json;

constexpr const char* kIntroduction = "residua-cli: make, train and question projects without a window";
constexpr std::size_t kMargin = 2;

struct Row {
    std::string label;
    std::string help;
};

/// Formats labels with their help beside them, or below them if there is too little room.
std::string listed(const std::vector<Row>& rows, std::size_t columns)
{
    constexpr std::size_t kLeastRoom = 30;
    constexpr std::size_t kIndentBelow = 6;
    std::size_t widest = 0;
    for (const Row& row : rows) {
        widest = std::max(widest, columnsOf(row.label));
    }
    const std::size_t beside = kMargin + widest + 2;
    const bool fits = beside + kLeastRoom <= columns;
    std::string text;
    for (const Row& row : rows) {
        text += std::string(kMargin, ' ') + row.label;
        text +=
            fits ? std::string(beside - kMargin - columnsOf(row.label), ' ') : "\n" + std::string(kIndentBelow, ' ');
        text += wrapped(row.help, columns, fits ? beside : kIndentBelow) + "\n";
    }
    return text;
}

const char* kindName(OptionKind kind)
{
    switch (kind) {
    case OptionKind::Flag:
        return "flag";
    case OptionKind::Text:
        return "text";
    case OptionKind::Integer:
        return "integer";
    case OptionKind::Real:
        return "number";
    case OptionKind::Duration:
        return "time";
    }
    return "";
}

/// Escapes a text for a line of man(7), so that it contains no requests or escapes.
std::string plain(const std::string& text)
{
    std::string escaped;
    for (const char c : text) {
        if (c == '\\') {
            escaped += "\\e";
        } else if (c == '-') {
            escaped += "\\-";
        } else {
            escaped += c == '\n' ? ' ' : c;
        }
    }
    return !escaped.empty() && (escaped[0] == '.' || escaped[0] == '\'') ? "\\&" + escaped : escaped;
}

std::string upper(std::string text)
{
    for (char& c : text) {
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return text;
}

std::string heading(const std::string& page)
{
    return ".TH " + plain(upper(page)) + " 1 \"\" \"residua " RESIDUA_VERSION "\" \"Residua\"\n";
}

std::string section(const std::string& title)
{
    return ".SH " + title + "\n";
}

std::string entry(const std::string& label, const std::string& help)
{
    return ".TP\n.B " + plain(label) + "\n" + plain(help) + "\n";
}

std::string exitStatus()
{
    std::string text = section("EXIT STATUS");
    for (const ExitCode& code : exitCodes()) {
        text += entry(std::to_string(static_cast<int>(code.code)), code.meaning);
    }
    return text;
}

std::string environment()
{
    std::string text = section("ENVIRONMENT");
    for (const EnvironmentVariable& variable : environmentVariables()) {
        text += entry(variable.name, variable.meaning);
    }
    return text;
}

std::string usageLine(const Command& command)
{
    std::string usage = "residua-cli " + command.name;
    for (const PositionalSpec& positional : command.syntax.positionals) {
        usage += " " + usageOf(positional);
    }
    return usage + " [OPTIONS]";
}

/// Formats the usage line of a manual page.
std::string synopsis(const Command& command)
{
    const std::string called = "residua-cli " + command.name;
    return ".B " + plain(called) + "\n" + plain(usageLine(command).substr(called.size() + 1)) + "\n";
}

/// Lists the subcommands, whose own help has their arguments.
std::string listOfSubcommands(const Command& command, std::size_t columns)
{
    const std::string call = "residua-cli " + command.name + " " + command.syntax.positionals.front().name;
    auto rows = mapped<std::vector<Row>>(command.subcommands, [&](const Command& subcommand) {
        return Row{std::string(wordOf(subcommand)), subcommand.summary};
    });
    return wrapped(command.summary, columns, 0) + "\n\n" +
           wrapped("Usage: " + call + " [ARGUMENTS] [OPTIONS]", columns, 0) + "\n\n" + listed(rows, columns) + "\n" +
           wrapped(call + " --help explains one of them with its options.", columns, 0) + "\n\nExample:\n  " +
           command.example;
}

/// Describes the arguments of a command for its manual page.
std::string argumentEntries(const Command& command)
{
    std::string entries;
    for (const PositionalSpec& positional : command.syntax.positionals) {
        entries += entry(positional.name, positional.help);
    }
    for (const OptionSpec& option : command.syntax.options) {
        entries += entry(optionLabel(option), option.help);
    }
    return entries + entry("--json", "print JSON");
}

} // namespace

std::string usageOf(const PositionalSpec& positional)
{
    switch (positional.presence) {
    case Presence::Required:
        break;
    case Presence::Optional:
        return "[" + positional.name + "]";
    case Presence::Repeated:
        return positional.name + "...";
    case Presence::AnyNumber:
        return "[" + positional.name + "...]";
    }
    return positional.name;
}

std::string optionLabel(const OptionSpec& option)
{
    return (option.shortName.empty() ? "" : "-" + option.shortName + ", ") + "--" + option.name +
           (option.value.empty() ? "" : " " + option.value);
}

std::string overview(const std::vector<Command>& commands, std::size_t columns)
{
    auto rows = mapped<std::vector<Row>>(commands, [](const Command& command) {
        return Row{command.name, command.summary};
    });
    auto codes = mapped<std::vector<Row>>(exitCodes(), [](const ExitCode& code) {
        return Row{std::to_string(static_cast<int>(code.code)), code.meaning};
    });
    auto variables = mapped<std::vector<Row>>(environmentVariables(), [](const EnvironmentVariable& variable) {
        return Row{variable.name, variable.meaning};
    });
    return wrapped(kIntroduction, columns, 0) + "\n\n" +
           wrapped("Usage: residua-cli COMMAND [ARGUMENTS] [--json]", columns, 0) + "\n\n" + listed(rows, columns) +
           "\n" + wrapped("residua-cli COMMAND --help explains a command and shows an example.", columns, 0) + "\n" +
           wrapped(kSignalsHelp, columns, 0) + "\n\nExit codes:\n" + listed(codes, columns) + "\nEnvironment:\n" +
           listed(variables, columns);
}

std::string explanation(const Command& command, std::size_t columns)
{
    if (!command.subcommands.empty()) {
        return listOfSubcommands(command, columns);
    }
    auto rows = mapped<std::vector<Row>>(command.syntax.positionals, [](const PositionalSpec& positional) {
        return Row{positional.name, positional.help};
    });
    for (const OptionSpec& option : command.syntax.options) {
        rows.push_back({optionLabel(option), option.help});
    }
    rows.push_back({"--json", "print JSON"});
    // The example is not wrapped, because it is meant to be copied.
    return wrapped(command.summary, columns, 0) + "\n\n" + wrapped("Usage: " + usageLine(command), columns, 0) +
           "\n\n" + listed(rows, columns) + "\nExample:\n  " + command.example;
}

json overviewJson(const std::vector<Command>& commands)
{
    auto list = mapped<json>(commands, [&](const Command& command) { return explanationJson(command); });
    auto codes = mapped<json>(exitCodes(), [](const ExitCode& code) -> json {
        return {{"code", static_cast<int>(code.code)}, {"meaning", code.meaning}};
    });
    auto variables = mapped<json>(environmentVariables(), [](const EnvironmentVariable& variable) -> json {
        return {{"name", variable.name}, {"meaning", variable.meaning}};
    });
    return {{"commands", list}, {"exitCodes", codes}, {"environment", variables}};
}

json explanationJson(const Command& command)
{
    auto arguments = mapped<json>(command.syntax.positionals, [&](const PositionalSpec& positional) -> json {
        return {{"name", positional.name},
                {"help", positional.help},
                {"required", positional.presence == Presence::Required || positional.presence == Presence::Repeated},
                {"repeated", repeats(positional.presence)}};
    });
    auto options = mapped<json>(command.syntax.options, [&](const OptionSpec& option) -> json {
        return {{"name", option.name},
                {"shortName", option.shortName},
                {"kind", kindName(option.kind)},
                {"value", option.value},
                {"help", option.help}};
    });
    json told{{"command", command.name},
              {"summary", command.summary},
              {"arguments", arguments},
              {"options", options},
              {"example", command.example}};
    for (const Command& subcommand : command.subcommands) {
        told["subcommands"].push_back(explanationJson(subcommand));
    }
    return told;
}

std::string manPage(const std::vector<Command>& commands)
{
    std::string text = heading("residua-cli") + section("NAME") +
                       plain("residua-cli - make, train and question projects of Residua without a window") + "\n" +
                       section("SYNOPSIS") + ".B residua\\-cli\n" + plain("COMMAND [ARGUMENTS] [--json]") + "\n" +
                       section("COMMANDS");
    for (const Command& command : commands) {
        text += entry(command.name, command.summary + ": see residua-cli-" + command.name + "(1)");
    }
    return text + section("SIGNALS") + plain(kSignalsHelp) + "\n" + exitStatus() + environment();
}

std::string manPage(const Command& command)
{
    const std::string page = "residua-cli-" + command.name;
    std::string text = heading(page) + section("NAME") + plain(page + " - " + command.summary) + "\n" +
                       section("SYNOPSIS") + synopsis(command);
    if (command.subcommands.empty()) {
        text += section("OPTIONS") + argumentEntries(command);
    }
    for (const Command& subcommand : command.subcommands) {
        text += section(plain(upper(subcommand.name))) + entry(usageLine(subcommand), subcommand.summary) +
                argumentEntries(subcommand);
    }
    return text + section("EXAMPLE") + plain(command.example) + "\n" + exitStatus() + section("SEE ALSO") +
           plain("residua-cli(1)") + "\n";
}

} // namespace residua::cli
