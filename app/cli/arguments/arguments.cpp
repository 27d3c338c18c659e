// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/arguments.h"

#include "app/cli/terminal/terminal_text.h"
#include "engine/base/api/export_format.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"
#include "projects/schema/fields.h"
#include "projects/shipped/examples.h"
#include "projects/shipped/recipes.h"
#include "resources/help.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace residua::cli {
namespace {

constexpr const char* kFreeText = "TEXT"; ///< value name that allows an empty value

const OptionSpec kCommonOptions[] = {
    {"json", OptionKind::Flag, "", "print JSON"},
    {"help", OptionKind::Flag, "", "explain this command", "h"},
};

const OptionSpec* findOption(const Syntax& syntax, const std::string& name)
{
    const auto matches = [&](const OptionSpec& option) {
        return "--" + option.name == name || (!option.shortName.empty() && "-" + option.shortName == name);
    };
    for (const OptionSpec& option : kCommonOptions) {
        if (matches(option)) {
            return &option;
        }
    }
    const auto found = std::find_if(syntax.options.begin(), syntax.options.end(), matches);
    return found != syntax.options.end() ? &*found : nullptr;
}

Error unknownOption(const Syntax& syntax, const std::string& name)
{
    auto known =
        mapped<std::vector<std::string>>(kCommonOptions, [](const OptionSpec& option) { return "--" + option.name; });
    for (const OptionSpec& option : syntax.options) {
        known.push_back("--" + option.name);
    }
    return {"", "unknown option " + shortened(name) + meantHint(name, known, kTypedHint)};
}

std::optional<double> finiteNumberFrom(std::string_view text)
{
    const std::optional<double> number = numberFrom<double>(text);
    return number && std::isfinite(*number) ? number : std::nullopt;
}

std::string limitText(double limit)
{
    return numberText(limit, 16); // with fewer digits an integer limit may get an exponent
}

Error wrongValue(const OptionSpec& option, const std::string& value, const std::string& expected)
{
    return {"", "--" + option.name + " got \"" + shortened(value) + "\", expected " + expected};
}

Status checkNumber(const OptionSpec& option, const std::string& value)
{
    const std::optional<double> number = finiteNumberFrom(value);
    if (!number || (option.kind == OptionKind::Integer && *number != std::floor(*number))) {
        return wrongValue(option, value, option.kind == OptionKind::Real ? "a number" : "a whole number");
    }
    if (*number < option.minimum) {
        return wrongValue(option, value, "at least " + limitText(option.minimum));
    }
    if (*number > option.maximum) {
        return wrongValue(option, value, "at most " + limitText(option.maximum));
    }
    return Done{};
}

Status checkValue(const OptionSpec& option, const std::string& value)
{
    switch (option.kind) {
    case OptionKind::Flag:
        return Done{};
    case OptionKind::Text:
        return value.empty() && option.value != kFreeText ? Status(wrongValue(option, value, option.value))
                                                          : Status(Done{});
    case OptionKind::Duration:
        return durationFrom(value) ? Status(Done{})
                                   : Status(wrongValue(option, value, "a time such as 45s, 90m, 3h55m or 1d2h"));
    case OptionKind::Integer:
    case OptionKind::Real:
        return checkNumber(option, value);
    }
    return Done{};
}

Status checkPositionals(const Syntax& syntax, const std::vector<std::string>& given)
{
    const bool isOpen = !syntax.positionals.empty() && repeats(syntax.positionals.back().presence);
    if (!isOpen && given.size() > syntax.positionals.size()) {
        return Error{"", "unexpected argument \"" + shortened(given[syntax.positionals.size()]) + "\""};
    }
    for (std::size_t i = 0; i < syntax.positionals.size(); ++i) {
        const PositionalSpec& expected = syntax.positionals[i];
        if (i >= given.size() && (expected.presence == Presence::Required || expected.presence == Presence::Repeated)) {
            return Error{"", "missing argument " + expected.name + ": " + expected.help};
        }
        if (i < given.size() && given[i].empty()) {
            return Error{"", "the argument " + expected.name + " is empty, expected " + expected.help};
        }
    }
    return Done{};
}

/// Returns the result of `nameOf` for each item.
template <class List, class Name>
std::vector<std::string> namesOf(const List& list, Name nameOf)
{
    return mapped<std::vector<std::string>>(list, [&](const auto& each) { return nameOf(each); });
}

/// Returns the word for a pointer: "training.batch=" for "/training/batch".
std::string dotted(const std::string& pointer)
{
    std::string word = pointer.substr(1);
    std::ranges::replace(word, '/', '.');
    return word + "=";
}

/// Returns the words of the fields that `isWanted` accepts. Skips fields in lists, which have an index.
std::vector<std::string> fieldsThat(bool (*isWanted)(const projects::FieldEntry&))
{
    std::vector<std::string> words{"topology="};
    for (const projects::FieldEntry& entry : projects::everyField()) {
        if (isWanted(entry) && !entry.isInList) {
            words.push_back(dotted(entry.pointer));
        }
    }
    std::ranges::sort(words);
    const auto twice = std::ranges::unique(words); // a field of several alternatives
    words.erase(twice.begin(), twice.end());
    return words;
}

} // namespace

Result<Arguments> Arguments::parse(const Syntax& syntax, std::span<const std::string> words)
{
    Arguments arguments;
    bool optionsEnded = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word.find('\0') != std::string::npos) {
            return Error{"", "the argument \"" + shortened(word) + "\" holds a zero byte"};
        }
        if (optionsEnded || word.size() < 2 || word[0] != '-') {
            arguments.m_positionals.push_back(word);
            continue;
        }
        if (word == "--") {
            optionsEnded = true;
            continue;
        }
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const OptionSpec* const option = findOption(syntax, name);
        if (option == nullptr) {
            return unknownOption(syntax, name);
        }
        std::string& value = arguments.m_options[option->name].emplace_back();
        if (option->kind == OptionKind::Flag) {
            if (equals != std::string::npos) {
                return Error{"", name + " takes no value"};
            }
            continue;
        }
        if (equals == std::string::npos && i + 1 == words.size()) {
            return Error{"", name + " needs a value: " + option->value};
        }
        value = equals != std::string::npos ? word.substr(equals + 1) : words[++i];
        RESIDUA_TRY(checkValue(*option, value));
    }
    if (const Status valid = checkPositionals(syntax, arguments.m_positionals); !valid && !arguments.has("help")) {
        return valid.error();
    }
    return arguments;
}

std::string Arguments::positional(std::size_t index) const
{
    return index < m_positionals.size() ? m_positionals[index] : std::string();
}

std::span<const std::string> Arguments::positionals(std::size_t first) const
{
    return std::span(m_positionals).subspan(std::min(first, m_positionals.size()));
}

std::string Arguments::text(const std::string& name, const std::string& otherwise) const
{
    const auto found = m_options.find(name);
    return found != m_options.end() ? found->second.back() : otherwise;
}

std::vector<std::string> Arguments::texts(const std::string& name) const
{
    const auto found = m_options.find(name);
    return found != m_options.end() ? found->second : std::vector<std::string>{};
}

std::optional<std::int64_t> Arguments::integer(const std::string& name) const
{
    // Parsed as a double, so that 1e6 is an integer too. A double is exact for all allowed integers.
    return has(name) ? std::optional(static_cast<std::int64_t>(real(name, 0))) : std::nullopt;
}

double Arguments::real(const std::string& name, double otherwise) const
{
    return has(name) ? finiteNumberFrom(text(name)).value_or(otherwise) : otherwise;
}

std::optional<std::chrono::seconds> Arguments::duration(const std::string& name) const
{
    return has(name) ? durationFrom(text(name)) : std::nullopt;
}

std::optional<std::chrono::seconds> durationFrom(std::string_view text)
{
    constexpr std::pair<char, std::int64_t> kUnits[] = {{'d', 86'400}, {'h', 3'600}, {'m', 60}, {'s', 1}};
    constexpr std::int64_t kMost = 366 * kUnits[0].second;
    std::int64_t seconds = 0;
    for (const auto& [unit, length] : kUnits) {
        std::int64_t count = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
        const auto digits = static_cast<std::size_t>(end - text.data());
        if (error != std::errc() || digits >= text.size() || text[digits] != unit) {
            continue;
        }
        if (count < 0 || count > kMost) {
            return std::nullopt;
        }
        seconds += count * length;
        text.remove_prefix(digits + 1);
    }
    const bool sound = text.empty() && seconds >= 1 && seconds <= kMost;
    return sound ? std::optional(std::chrono::seconds(seconds)) : std::nullopt;
}

std::string shortened(const std::string& word)
{
    return clipped(printable(word, LineEnds::Escape), 60);
}

std::string_view wordOf(const Command& subcommand)
{
    return std::string_view(subcommand.name).substr(subcommand.name.rfind(' ') + 1);
}

Call callOf(const Command& command, std::span<const std::string> words)
{
    std::vector<std::string> others(words.begin(), words.end());
    for (auto word = others.begin(); word != others.end() && *word != "--"; ++word) {
        const OptionSpec* const option = findOption(command.syntax, *word);
        if (option != nullptr && option->kind != OptionKind::Flag) { // the next word is its value
            if (++word == others.end()) {
                break;
            }
            continue;
        }
        const auto selected = std::ranges::find(command.subcommands, *word, &wordOf);
        if (selected != command.subcommands.end()) {
            others.erase(word);
            return {*selected, std::move(others)};
        }
    }
    return {command, std::move(others)};
}

Command withSubcommands(Command command, PositionalSpec word, std::vector<PositionalSpec> others,
                        std::vector<Command> subcommands)
{
    word.choices = namesOf(subcommands, &wordOf);
    word.help = choiceText(word.choices);
    std::vector<OptionSpec>& options = command.syntax.options;
    for (const Command& subcommand : subcommands) {
        std::ranges::copy_if(subcommand.syntax.options, std::back_inserter(options), [&](const OptionSpec& option) {
            return std::ranges::find(options, option.name, &OptionSpec::name) == options.end();
        });
    }
    command.syntax.positionals = std::move(others);
    command.syntax.positionals.insert(command.syntax.positionals.begin(), std::move(word));
    command.subcommands = std::move(subcommands);
    return command;
}

const std::vector<std::string>& exampleNames()
{
    static const auto kNames =
        namesOf(projects::exampleCards(), [](const projects::ExampleCard& card) { return std::string(card.name); });
    return kNames;
}

const std::vector<std::string>& recipeNames()
{
    static const auto kNames = namesOf(projects::recipes(), [](const projects::Recipe& recipe) { return recipe.name; });
    return kNames;
}

const std::vector<std::string>& topologyNames()
{
    static const auto kNames =
        namesOf(projects::topologyPresets(1), [](const projects::TopologyPreset& preset) { return preset.name; });
    return kNames;
}

const std::vector<std::string>& topicNames()
{
    static const auto kNames =
        namesOf(resources::helpTopics(), [](const resources::HelpTopic& topic) { return topic.name; });
    return kNames;
}

const std::vector<std::string>& fieldWords()
{
    static const auto kWords = fieldsThat(&projects::isSettable);
    return kWords;
}

const std::vector<std::string>& axisWords()
{
    static const auto kWords = fieldsThat(&projects::isSweepable);
    return kWords;
}

} // namespace residua::cli
