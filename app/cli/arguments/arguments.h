// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/terminal/console.h"
#include "projects/base/real.h"
#include "projects/base/result.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace residua::cli {

enum class OptionKind { Flag, Text, Integer, Real, Duration };

/// The limit of integers, because a number such as 1e6 is parsed as a double.
inline constexpr double kMostInteger = real(kMostExactWhole);

/// The other values that a word may have beside the listed choices.
enum class Beside { Nothing, Files };

/// An option --name VALUE of a command.
struct OptionSpec {
    std::string name; ///< without the dashes
    OptionKind kind = OptionKind::Flag;
    std::string value; ///< name of the value in the help: "N", "DIR"
    std::string help;
    std::string shortName = {};     ///< one letter; may be empty
    double minimum = -kMostInteger; ///< numbers only
    double maximum = kMostInteger;  ///< numbers only
    /// The accepted words, for shell completion. Empty if there are many, or if the values are files.
    std::vector<std::string> choices = {};
    Beside beside = Beside::Nothing;
};

/// Make the option of a number from `least` to `most`.
[[nodiscard]] inline OptionSpec integerOption(std::string name, std::string value, std::string help, double least,
                                              double most = kMostInteger)
{
    return {std::move(name), OptionKind::Integer, std::move(value), std::move(help), {}, least, most};
}
[[nodiscard]] inline OptionSpec realOption(std::string name, std::string value, std::string help, double least,
                                           double most = kMostInteger)
{
    return {std::move(name), OptionKind::Real, std::move(value), std::move(help), {}, least, most};
}
/// Makes the option of one of these words.
[[nodiscard]] inline OptionSpec choiceOption(std::string name, std::string value, std::string help,
                                             std::vector<std::string> choices)
{
    return {.name = std::move(name),
            .kind = OptionKind::Text,
            .value = std::move(value),
            .help = std::move(help),
            .choices = std::move(choices)};
}

/// Repeated: one or more words; AnyNumber: none or more. Both only for the last positional.
enum class Presence { Required, Optional, Repeated, AnyNumber };
[[nodiscard]] inline bool repeats(Presence presence)
{
    return presence == Presence::Repeated || presence == Presence::AnyNumber;
}

struct PositionalSpec {
    std::string name; ///< "PROJECT"
    std::string help;
    Presence presence = Presence::Required;
    std::vector<std::string> choices = {}; ///< as for an option; a choice that ends in '=' is followed by a value
    Beside beside = Beside::Nothing;
};

/// The arguments of a command. Every command also accepts --json and --help. Empty values are errors, because they
/// usually come from an unset shell variable; only an option with the value name TEXT accepts them.
struct Syntax {
    std::vector<PositionalSpec> positionals;
    std::vector<OptionSpec> options;
};

/// The parsed arguments. They have been checked against the syntax, so the getters cannot fail.
class Arguments {
public:
    /// Parses the words after the command's name. The error names the word, and suggests an option for a misspelt one.
    [[nodiscard]] static Result<Arguments> parse(const Syntax& syntax, std::span<const std::string> words);

    [[nodiscard]] bool has(const std::string& name) const { return m_options.contains(name); }
    /// Returns the positional at `index`; empty if it was omitted.
    [[nodiscard]] std::string positional(std::size_t index) const;
    /// Returns the positionals from `first` on.
    [[nodiscard]] std::span<const std::string> positionals(std::size_t first) const;
    [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise = {}) const;
    /// Returns every value of an option that was given more than once, in order.
    [[nodiscard]] std::vector<std::string> texts(const std::string& name) const;
    [[nodiscard]] std::int64_t integer(const std::string& name, std::int64_t otherwise) const
    {
        return integer(name).value_or(otherwise);
    }
    /// Returns nullopt if the option is not given.
    [[nodiscard]] std::optional<std::int64_t> integer(const std::string& name) const;
    [[nodiscard]] double real(const std::string& name, double otherwise) const;
    [[nodiscard]] std::optional<std::chrono::seconds> duration(const std::string& name) const;

private:
    std::vector<std::string> m_positionals;
    std::map<std::string, std::vector<std::string>> m_options; ///< the last value of an option counts
};

/// Parses a duration such as 45s, 90m, 3h55m or 1d2h: integers with units, larger units first. At least one second and
/// at most a year. Returns nullopt for any other text.
[[nodiscard]] std::optional<std::chrono::seconds> durationFrom(std::string_view text);

/// Returns a word shortened for a message.
[[nodiscard]] std::string shortened(const std::string& word);

/// Whether a command's result is its output or files. With Output it fails if standard output cannot be written.
enum class Yields { Output, Files };

/// One command of residua-cli. To add one, write its function and its entry in a commands/commands_*.cpp.
struct Command {
    std::string name;
    std::string summary; ///< one line
    /// A command line that works after the preceding examples in allCommands() have been run.
    std::string example;
    Syntax syntax;
    Exit (*run)(const Arguments& arguments, const Console& console);
    Yields yields = Yields::Output;
    /// The subcommands, such as "analyze gap", each with its own arguments; may be empty.
    std::vector<Command> subcommands = {};
};

/// Returns a command that its first argument, `word`, divides into subcommands. Its syntax has the positionals `word`
/// and `others` and every option of the subcommands, for shell completion; dispatch parses by the subcommand's syntax.
[[nodiscard]] Command withSubcommands(Command command, PositionalSpec word, std::vector<PositionalSpec> others,
                                      std::vector<Command> subcommands);
/// A command or subcommand with its arguments.
struct Call {
    const Command& command;
    std::vector<std::string> words;
};
/// Returns the subcommand that the first of its words in `words` selects, with the other words. Returns the command
/// with all words if it has no subcommands or none is named.
[[nodiscard]] Call callOf(const Command& command, std::span<const std::string> words);
/// Returns the word that selects a subcommand: "gap" for "analyze gap".
[[nodiscard]] std::string_view wordOf(const Command& subcommand);

/// The words that options and positionals accept, for shell completion. Each list is made once; any thread.

[[nodiscard]] const std::vector<std::string>& exampleNames();
[[nodiscard]] const std::vector<std::string>& recipeNames();
[[nodiscard]] const std::vector<std::string>& topologyNames();
[[nodiscard]] const std::vector<std::string>& topicNames(); ///< pages of the help
/// Returns every field that --set can set, with dots: "training.batch=". Omits fields in lists.
[[nodiscard]] const std::vector<std::string>& fieldWords();
/// Returns every field that a sweep can vary, in the same form.
[[nodiscard]] const std::vector<std::string>& axisWords();

/// Returns the option or positional with the words that it accepts.
template <class Spec>
[[nodiscard]] Spec offering(Spec spec, std::vector<std::string> words, Beside beside = Beside::Nothing)
{
    spec.choices = std::move(words);
    spec.beside = beside;
    return spec;
}

} // namespace residua::cli
