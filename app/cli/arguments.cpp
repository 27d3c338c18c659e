// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace residua::cli {
namespace {

const OptionSpec kCommonOptions[] = {
    {"json", OptionKind::Flag, "", "print JSON"},
    {"help", OptionKind::Flag, "", "explain this command", "h"},
};

/// Letters to insert, delete or change to get from one word to the other (Levenshtein).
std::size_t editDistance(const std::string& a, const std::string& b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j + 1] + 1, row[j] + 1});
        }
    }
    return row.back();
}

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
    std::vector<std::string> known;
    for (const OptionSpec& option : kCommonOptions) {
        known.push_back("--" + option.name);
    }
    for (const OptionSpec& option : syntax.options) {
        known.push_back("--" + option.name);
    }
    const std::string meant = nearest(name, known);
    return {"", "unknown option " + name + (meant.empty() ? "" : ", did you mean " + meant + "?")};
}

Status checkValue(const OptionSpec& option, const std::string& value)
{
    if (option.kind == OptionKind::Text) {
        return Done{};
    }
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    const bool whole = option.kind == OptionKind::Real || number == std::floor(number);
    if (value.empty() || *end != '\0' || !std::isfinite(number) || !whole) {
        const std::string expected = option.kind == OptionKind::Real ? "a number" : "a whole number";
        return Error{"", "--" + option.name + " got \"" + value + "\", expected " + expected};
    }
    if (number < option.minimum) {
        return Error{"", "--" + option.name + " got " + value + ", expected at least " +
                             std::to_string(static_cast<std::int64_t>(option.minimum))};
    }
    return Done{};
}

Status checkPositionals(const Syntax& syntax, const std::vector<std::string>& given)
{
    if (given.size() > syntax.positionals.size()) {
        return Error{"", "unexpected argument \"" + given[syntax.positionals.size()] + "\""};
    }
    for (std::size_t i = given.size(); i < syntax.positionals.size(); ++i) {
        if (syntax.positionals[i].presence == Presence::Required) {
            return Error{"", "missing argument " + syntax.positionals[i].name + ": " + syntax.positionals[i].help};
        }
    }
    return Done{};
}

} // namespace

Result<Arguments> Arguments::parse(const Syntax& syntax, std::span<const std::string> words)
{
    Arguments arguments;
    bool optionsEnded = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
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
        if (const Status valid = checkValue(*option, value); !valid) {
            return valid.error();
        }
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

std::int64_t Arguments::integer(const std::string& name, std::int64_t otherwise) const
{
    // Through a double, so that 1e6 is a whole number too.
    return has(name) ? static_cast<std::int64_t>(real(name, 0)) : otherwise;
}

double Arguments::real(const std::string& name, double otherwise) const
{
    return has(name) ? std::strtod(text(name).c_str(), nullptr) : otherwise;
}

std::string nearest(const std::string& word, const std::vector<std::string>& candidates)
{
    std::string best;
    std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = editDistance(word, candidate);
        if (distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}

} // namespace residua::cli
