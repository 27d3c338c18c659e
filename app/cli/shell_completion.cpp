// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/shell_completion.h"

#include "app/cli/terminal_text.h"
#include "engine/api/export_format.h"
#include "projects/library/presets.h"
#include "projects/schema/fields.h"
#include "resources/help.h"

#include <algorithm>
#include <span>

namespace residua::cli {
namespace {

std::vector<std::string> exampleNames()
{
    std::vector<std::string> names;
    for (const projects::Example& example : projects::examples()) {
        names.push_back(example.name);
    }
    return names;
}

std::vector<std::string> topologyNames()
{
    std::vector<std::string> names;
    for (const auto& preset : projects::topologyPresets(projects::examples().front().project.network)) {
        names.push_back(preset.name);
    }
    return names;
}

std::vector<std::string> topicNames()
{
    std::vector<std::string> names;
    for (const resources::HelpTopic& topic : resources::helpTopics()) {
        names.push_back(topic.name);
    }
    return names;
}

/// Words that may stand where an option's value or a positional of this name does; files may too where that is empty
/// or a project is named.
std::vector<std::string> choicesFor(const std::string& name)
{
    if (name == "example" || name == "PROJECT") {
        return exampleNames();
    }
    if (name == "topology") {
        return topologyNames();
    }
    if (name == "TOPIC") {
        return topicNames();
    }
    if (name == "SHELL") {
        return {"bash", "zsh", "fish"};
    }
    if (name == "to") {
        std::vector<std::string> keys;
        for (const engine::ExportFormatInfo& info : engine::exportFormats()) {
            keys.emplace_back(info.key);
        }
        return keys;
    }
    if (name == "device") {
        return {"cpu", "cuda:0"};
    }
    return {};
}

std::vector<std::string> choicesOf(const OptionSpec& option)
{
    return option.choices.empty() ? choicesFor(option.name) : option.choices;
}

std::string joined(std::span<const std::string> words)
{
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : " ") + word;
    }
    return text;
}

std::vector<std::string> commandNames(const std::vector<Command>& commands)
{
    std::vector<std::string> names;
    for (const Command& command : commands) {
        names.push_back(command.name);
    }
    return names;
}

std::vector<std::string> optionWords(const Command& command)
{
    std::vector<std::string> words;
    for (const OptionSpec& option : command.syntax.options) {
        words.push_back("--" + option.name);
    }
    words.insert(words.end(), {"--json", "--help"});
    return words;
}

std::vector<std::string> positionalChoices(const Command& command)
{
    return command.syntax.positionals.empty() ? std::vector<std::string>{}
                                              : choicesFor(command.syntax.positionals.front().name);
}

std::string bashScript(const std::vector<Command>& commands)
{
    std::string cases;
    for (const Command& command : commands) {
        cases += "    " + command.name + ")\n        options=" + shellQuoted(joined(optionWords(command))) +
                 "\n        words=" + shellQuoted(joined(positionalChoices(command))) +
                 "\n        case \"$before\" in\n";
        for (const OptionSpec& option : command.syntax.options) {
            if (const std::vector<std::string> choices = choicesOf(option); !choices.empty()) {
                cases += "        --" + option.name + ")\n            words=" + shellQuoted(joined(choices)) +
                         "\n            ;;\n";
            }
        }
        cases += "        esac\n        ;;\n";
    }
    return "# bash completion for residua-cli\n"
           "_residua_cli()\n{\n"
           "    local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD - 1]}\" options words\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W " +
           shellQuoted(joined(commandNames(commands)) + " --help --version") +
           " -- \"$word\"))\n"
           "        return\n"
           "    fi\n"
           "    case \"${COMP_WORDS[1]}\" in\n" +
           cases +
           "    esac\n"
           "    if [[ $word == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
           "    else\n"
           "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\") $(compgen -f -- \"$word\"))\n"
           "    fi\n"
           "}\n"
           "complete -o filenames -F _residua_cli residua-cli\n";
}

/// A text inside a specification of _arguments, where brackets and colons mean something.
std::string forZsh(const std::string& text)
{
    std::string result;
    for (const char c : text) {
        result += (c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "") + std::string(1, c);
    }
    return result;
}

std::string zshAction(const std::string& name, const std::vector<std::string>& choices)
{
    if (choices.empty()) {
        return "_files";
    }
    return name == "PROJECT" ? "{_alternative \"examples:example:(" + joined(choices) + ")\" \"files:file:_files\"}"
                             : "(" + joined(choices) + ")";
}

std::string zshScript(const std::vector<Command>& commands)
{
    std::string named;
    std::string cases;
    for (const Command& command : commands) {
        named += "        " + shellQuoted(forZsh(command.name) + ":" + command.summary) + "\n";
        cases += "    " + command.name + ")\n        _arguments '--json[print JSON]' '--help[explain this command]'";
        for (const OptionSpec& option : command.syntax.options) {
            const bool isFlag = option.kind == OptionKind::Flag;
            cases += " \\\n            " +
                     shellQuoted(
                         "*--" + option.name + "[" + forZsh(option.help) + "]" +
                         (isFlag ? "" : ":" + forZsh(option.value) + ":" + zshAction(option.name, choicesOf(option))));
        }
        for (const PositionalSpec& positional : command.syntax.positionals) {
            cases += " \\\n            " +
                     shellQuoted((positional.presence == Presence::Repeated ? "*:" : ":") + forZsh(positional.name) +
                                 ":" + zshAction(positional.name, choicesFor(positional.name)));
        }
        cases += "\n        ;;\n";
    }
    return "#compdef residua-cli\n"
           "local -a commands\n"
           "if (( CURRENT == 2 )); then\n"
           "    commands=(\n" +
           named +
           "    )\n"
           "    _describe command commands\n"
           "    return\n"
           "fi\n"
           "local command=$words[2]\n"
           "shift words\n"
           "(( CURRENT-- ))\n"
           "case $command in\n" +
           cases + "esac\n";
}

/// Between single quotes of fish, where a backslash is one too.
std::string forFish(const std::string& text)
{
    std::string result = "'";
    for (const char c : text) {
        result += (c == '\'' || c == '\\' ? "\\" : "") + std::string(1, c);
    }
    return result + "'";
}

std::string fishScript(const std::vector<Command>& commands)
{
    const std::string names = joined(commandNames(commands));
    const std::string begin = "complete -c residua-cli ";
    std::string text = "# fish completion for residua-cli\n";
    for (const Command& command : commands) {
        const std::string here = "-n '__fish_seen_subcommand_from " + command.name + "' ";
        text += begin + "-f -n 'not __fish_seen_subcommand_from " + names + "' -a " + command.name + " -d " +
                forFish(command.summary) + "\n" + begin + here + "-l json -d 'print JSON'\n";
        for (const OptionSpec& option : command.syntax.options) {
            const std::vector<std::string> choices = choicesOf(option);
            text += begin + here + "-l " + option.name + (option.shortName.empty() ? "" : " -s " + option.shortName) +
                    (option.kind == OptionKind::Flag ? "" : " -r") +
                    (choices.empty() ? "" : " -a " + forFish(joined(choices))) + " -d " + forFish(option.help) + "\n";
        }
        if (const std::vector<std::string> choices = positionalChoices(command); !choices.empty()) {
            text += begin + here + "-a " + forFish(joined(choices)) + "\n";
        }
    }
    return text;
}

} // namespace

std::optional<Shell> shellFrom(std::string_view name)
{
    return name == "bash"   ? std::optional(Shell::Bash)
           : name == "zsh"  ? std::optional(Shell::Zsh)
           : name == "fish" ? std::optional(Shell::Fish)
                            : std::nullopt;
}

std::string completionScript(Shell shell, const std::vector<Command>& commands)
{
    switch (shell) {
    case Shell::Bash:
        break;
    case Shell::Zsh:
        return zshScript(commands);
    case Shell::Fish:
        return fishScript(commands);
    }
    return bashScript(commands);
}

} // namespace residua::cli
