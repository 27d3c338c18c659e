// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/real.h"
#include "projects/base/result.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::cli {

enum class OptionKind { Flag, Text, Integer, Real, Duration };

/// A number such as 1e6 is read as a double.
inline constexpr double kMostInteger = real(kMostExactWhole);

/// What a word may be beside the choices that a specification lists.
enum class Beside { Nothing, Files };

/// --name VALUE of a command.
struct OptionSpec {
    std::string name; ///< without the dashes
    OptionKind kind = OptionKind::Flag;
    std::string value; ///< what the help calls the value: "N", "DIR"
    std::string help;
    std::string shortName = {};     ///< one letter; may be empty
    double minimum = -kMostInteger; ///< numbers only
    double maximum = kMostInteger;  ///< numbers only
    /// The words that it takes, for a shell to offer; empty where they are not a few, or files.
    std::vector<std::string> choices = {};
    Beside beside = Beside::Nothing;
};

/// Repeated: one or more words; the last positional alone.
enum class Presence { Required, Optional, Repeated };

struct PositionalSpec {
    std::string name; ///< "PROJECT"
    std::string help;
    Presence presence = Presence::Required;
    std::vector<std::string> choices = {}; ///< as an option's; one that ends in '=' goes on with a value
    Beside beside = Beside::Nothing;
};

/// What a command takes. Every command also takes --json and --help. No text may be empty, but the value of an option
/// that calls it TEXT: an empty word is a shell's variable that was not set.
struct Syntax {
    std::vector<PositionalSpec> positionals;
    std::vector<OptionSpec> options;
};

/// What was given, checked against the syntax: the getters cannot fail.
class Arguments {
public:
    /// `words` come after the command's name. Errors name the word, and a misspelt option its likely meaning.
    [[nodiscard]] static Result<Arguments> parse(const Syntax& syntax, std::span<const std::string> words);

    [[nodiscard]] bool has(const std::string& name) const { return m_options.contains(name); }
    /// The positional at `index`; empty where it was left out.
    [[nodiscard]] std::string positional(std::size_t index) const;
    /// The positionals from `first` on.
    [[nodiscard]] std::span<const std::string> positionals(std::size_t first) const;
    [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise = {}) const;
    /// Every value of an option that was given more than once, in order.
    [[nodiscard]] std::vector<std::string> texts(const std::string& name) const;
    [[nodiscard]] std::int64_t integer(const std::string& name, std::int64_t otherwise) const;
    [[nodiscard]] double real(const std::string& name, double otherwise) const;
    [[nodiscard]] std::optional<std::chrono::seconds> duration(const std::string& name) const;

private:
    std::vector<std::string> m_positionals;
    std::map<std::string, std::vector<std::string>> m_options; ///< the last of them counts
};

/// A time such as 45s, 90m, 3h55m or 1d2h: whole numbers, each with its unit, the larger units first. At least a
/// second, at most a year. Nothing where the text is no such time.
[[nodiscard]] std::optional<std::chrono::seconds> durationFrom(std::string_view text);

/// A word as a message can show it.
[[nodiscard]] std::string shortened(const std::string& word);

} // namespace residua::cli
