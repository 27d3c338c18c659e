// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/help.h"

#include "app/cli/terminal/terminal_text.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"

#include <map>

namespace residua::cli {
namespace {

std::vector<std::string> commandNames(const std::vector<Command>& commands)
{
    return mapped<std::vector<std::string>>(commands, &Command::name);
}

std::vector<std::string> optionWords(const Command& command)
{
    auto words = mapped<std::vector<std::string>>(command.syntax.options,
                                                  [](const OptionSpec& option) { return "--" + option.name; });
    words.insert(words.end(), {"--json", "--help"});
    return words;
}

/// Lists of words that several options and positionals share. A script has each list once.
class WordLists {
public:
    /// Returns the name of the list.
    std::string nameOf(const std::vector<std::string>& words)
    {
        return m_names.try_emplace(joinedText(words, " "), "list" + std::to_string(m_names.size() + 1)).first->second;
    }
    /// Returns the names by the joined words.
    [[nodiscard]] const std::map<std::string, std::string>& names() const { return m_names; }

private:
    std::map<std::string, std::string> m_names;
};

/// Returns the cases of a command: the words after each of its options, and at each position of its positionals.
std::string bashCases(const Command& command, WordLists& lists)
{
    std::string cases;
    for (const OptionSpec& option : command.syntax.options) {
        if (!option.choices.empty()) {
            cases += "    " + command.name + ":--" + option.name + ") words=$" + lists.nameOf(option.choices) + " ;;\n";
        }
    }
    for (std::size_t place = 0; place < command.syntax.positionals.size(); ++place) {
        const PositionalSpec& positional = command.syntax.positionals[place];
        if (positional.choices.empty() && !repeats(positional.presence)) {
            cases += "    " + command.name + ":" + std::to_string(place) + ") ;;\n"; // before a case of all places
        } else if (!positional.choices.empty()) {
            const std::string from = repeats(positional.presence) ? "*" : std::to_string(place);
            cases += "    " + command.name + ":" + from + ") words=$" + lists.nameOf(positional.choices) + " ;;\n";
        }
    }
    return cases;
}

std::string bashScript(const std::vector<Command>& commands)
{
    WordLists lists;
    std::string named;
    std::string cases;
    for (const Command& command : commands) {
        std::string valued;
        for (const OptionSpec& option : command.syntax.options) {
            const std::string brief = option.shortName.empty() ? "" : "-" + option.shortName + " ";
            valued += option.kind == OptionKind::Flag ? "" : "--" + option.name + " " + brief;
        }
        named += "    " + command.name + ")\n        options=" + shellQuoted(joinedText(optionWords(command), " ")) +
                 "\n        valued=" + shellQuoted(" " + valued) + "\n        ;;\n";
        cases += bashCases(command, lists);
    }
    std::string script = "# bash completion for residua-cli\n"
                         "_residua_cli()\n{\n"
                         "    local word=\"${COMP_WORDS[COMP_CWORD]}\" options='' valued='' words='' place=0 key i\n";
    for (const auto& [words, name] : lists.names()) {
        script += "    local " + name + "=" + shellQuoted(words) + "\n";
    }
    return script +
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W " +
           shellQuoted(joinedText(commandNames(commands), " ") + " --help --version") +
           " -- \"$word\"))\n"
           "        return\n"
           "    fi\n"
           "    case \"${COMP_WORDS[1]}\" in\n" +
           named +
           "    esac\n"
           "    for ((i = 2; i < COMP_CWORD; i++)); do\n" // bash splits --option=value into three words
           "        if [[ $valued == *\" ${COMP_WORDS[i]} \"* ]]; then\n"
           "            key=${COMP_WORDS[i]}\n"
           "            [[ ${COMP_WORDS[i + 1]} == '=' ]] && ((i++))\n"
           "            ((i++))\n"
           "            [ \"$i\" -ge \"$COMP_CWORD\" ] || key=''\n"
           "        elif [[ ${COMP_WORDS[i]} == '=' ]]; then\n"
           "            ((i++))\n"
           "        elif [[ ${COMP_WORDS[i]} != -* ]]; then\n"
           "            ((place++))\n"
           "        fi\n"
           "    done\n"
           "    [[ $word == '=' ]] && word=''\n"
           "    case \"${COMP_WORDS[1]}:${key:-$place}\" in\n" +
           cases +
           "    esac\n"
           "    [[ -z $key && ( ${COMP_WORDS[COMP_CWORD]} == '=' || ${COMP_WORDS[COMP_CWORD - 1]} == '=' ) ]] && "
           "words=''\n"
           "    if [[ $word == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
           "        return\n"
           "    fi\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\") $(compgen -f -- \"$word\"))\n"
           "    if [[ ${COMPREPLY[0]} == *= ]]; then\n" // a value follows
           "        compopt -o nospace +o filenames 2> /dev/null\n"
           "    fi\n"
           "}\n"
           "complete -o filenames -F _residua_cli residua-cli\n";
}

/// Escapes a text for a specification of _arguments, where brackets and colons have a meaning.
std::string forZsh(const std::string& text)
{
    std::string result;
    for (const char c : text) {
        result += (c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "") + std::string(1, c);
    }
    return result;
}

/// Returns zsh's action for one word.
template <class Spec>
std::string zshAction(const Spec& spec, WordLists& lists)
{
    if (spec.choices.empty()) {
        return "_files";
    }
    const std::string list = lists.nameOf(spec.choices);
    const std::string add =
        std::string("compadd ") + (spec.choices.front().ends_with('=') ? "-S \"\" " : "") + "-- ${(z)" + list + "}";
    return spec.beside == Beside::Files ? "{" + add + "; _files}" : "{" + add + "}";
}

std::string zshScript(const std::vector<Command>& commands)
{
    WordLists lists;
    std::string named;
    std::string cases;
    for (const Command& command : commands) {
        named += "        " + shellQuoted(forZsh(command.name) + ":" + command.summary) + "\n";
        cases += "    " + command.name + ")\n        _arguments '--json[print JSON]' '--help[explain this command]'";
        for (const OptionSpec& option : command.syntax.options) {
            const bool isFlag = option.kind == OptionKind::Flag;
            cases += " \\\n            " +
                     shellQuoted("*--" + option.name + "[" + forZsh(option.help) + "]" +
                                 (isFlag ? "" : ":" + forZsh(option.value) + ":" + zshAction(option, lists)));
        }
        for (const PositionalSpec& positional : command.syntax.positionals) {
            cases += " \\\n            " + shellQuoted((repeats(positional.presence) ? "*:" : ":") +
                                                       forZsh(positional.name) + ":" + zshAction(positional, lists));
        }
        cases += "\n        ;;\n";
    }
    std::string script = "#compdef residua-cli\n";
    for (const auto& [words, name] : lists.names()) {
        script += "local " + name + "=" + shellQuoted(words) + "\n";
    }
    return script +
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

/// Escapes a text between single quotes of fish, where a backslash must be escaped too.
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
    const std::string names = joinedText(commandNames(commands), " ");
    const std::string begin = "complete -c residua-cli ";
    std::string text = "# fish completion for residua-cli\n";
    WordLists lists;
    const auto variable = [&lists](const std::vector<std::string>& words) {
        return "$__residua_" + lists.nameOf(words);
    };
    for (const Command& command : commands) {
        const std::string here = "-n '__fish_seen_subcommand_from " + command.name + "' ";
        text += begin + "-f -n 'not __fish_seen_subcommand_from " + names + "' -a " + command.name + " -d " +
                forFish(command.summary) + "\n" + begin + here + "-l json -d 'print JSON'\n";
        for (const OptionSpec& option : command.syntax.options) {
            text += begin + here + "-l " + option.name + (option.shortName.empty() ? "" : " -s " + option.shortName) +
                    (option.kind == OptionKind::Flag ? "" : " -r") +
                    (option.choices.empty() ? "" : " -a \"" + variable(option.choices) + "\"") + " -d " +
                    forFish(option.help) + "\n";
        }
        for (const PositionalSpec& positional : command.syntax.positionals) {
            if (!positional.choices.empty()) {
                text += begin + here + "-a \"" + variable(positional.choices) + "\"\n";
            }
        }
    }
    std::string words;
    for (const auto& [list, name] : lists.names()) {
        words += "set -g __residua_" + name + " " + forFish(list) + "\n";
    }
    return words + text;
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
