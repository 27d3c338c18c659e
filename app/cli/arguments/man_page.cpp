// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/help.h"

#include "app/cli/terminal/terminal_text.h"

#include <cctype>

namespace residua::cli {
namespace {

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

std::string heading(const std::string& page)
{
    std::string title = page;
    for (char& c : title) {
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return ".TH " + plain(title) + " 1 \"\" \"residua " RESIDUA_VERSION "\" \"Residua\"\n";
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

} // namespace

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
    std::string usage;
    std::string listed;
    for (const PositionalSpec& positional : command.syntax.positionals) {
        usage += usageOf(positional) + " ";
        listed += entry(positional.name, positional.help);
    }
    for (const OptionSpec& option : command.syntax.options) {
        listed += entry(optionLabel(option), option.help);
    }
    listed += entry("--json", "print JSON");
    return heading(page) + section("NAME") + plain(page + " - " + command.summary) + "\n" + section("SYNOPSIS") +
           ".B " + plain("residua-cli " + command.name) + "\n" + plain(usage + "[OPTIONS]") + "\n" +
           section("OPTIONS") + listed + section("EXAMPLE") + plain(command.example) + "\n" + exitStatus() +
           section("SEE ALSO") + plain("residua-cli(1)") + "\n";
}

} // namespace residua::cli
