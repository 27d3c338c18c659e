// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/project_argument.h"
#include "engine/base/api/queries.h"
#include "projects/base/text.h"
#include "projects/model/project.h"
#include "projects/schema/method_keys.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// The options of a described struct: a request, the run that it is about, or a training of a tokeniser
// (engine/base/api/queries.h).
namespace residua::cli {

/// Return the options --rank and --rank-scale with the ranges of the document's fields.
[[nodiscard]] OptionSpec rankOption();
[[nodiscard]] OptionSpec rankScaleOption(std::string help);

/// Parses --rank N or --rank-scale S; nullopt if neither is given. Errors: both are given, or a share of 0.
[[nodiscard]] Result<std::optional<projects::WeightRank>> rankFrom(const Arguments& arguments);
/// Returns the words of the methods as methodsFrom() takes them.
[[nodiscard]] std::string methodList(const std::vector<projects::LowRankMethod>& methods);
/// Parses a list such as "spectral,lfai-ws,exact" without repetitions. Errors are placed at --methods.
[[nodiscard]] Result<std::vector<projects::LowRankMethod>> methodsFrom(const std::string& list);

template <class T>
struct ValueOrOptional {
    using Type = T;
};
template <class T>
struct ValueOrOptional<std::optional<T>> {
    using Type = T;
};
/// The type of a field's value, if it is given.
template <class T>
using GivenType = typename ValueOrOptional<T>::Type;

/// Calls `take` with each field of `described` that has options, and its member, also with those of a Generation. Not
/// with those of its RunRef.
template <class T, class Take>
void forEachOption(T& described, const Take& take)
{
    projects::Fields<std::remove_const_t<T>>::visit([&](const projects::Field& field, auto member) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(described.*member)>, engine::Generation>) {
            forEachOption(described.*member, take);
        } else if (!field.help.empty() || !field.more.value.empty()) {
            take(field, described.*member);
        }
    });
}

/// Returns the words of an enumeration in the terminal: "lfai-ws".
template <projects::Named E>
[[nodiscard]] std::vector<std::string> wordsOf()
{
    std::vector<std::string> words(projects::kNamesOf<E>.begin(), projects::kNamesOf<E>.end());
    for (std::string& word : words) {
        std::ranges::replace(word, '_', '-');
    }
    return words;
}

/// Lists the words for a help; with what each means, if the schema has that.
template <projects::Named E>
[[nodiscard]] std::string helpOfWords(const std::vector<std::string>& words)
{
    if (std::ranges::all_of(projects::Choices<E>::all, &std::string_view::empty, &projects::Choice::help)) {
        return choiceText(words);
    }
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += (i > 0 ? "; " : "") + words[i] + ": " + std::string(projects::Choices<E>::all[i].help);
    }
    return text;
}

/// Returns the names in a list separated by commas, without blanks around them; skips empty ones.
[[nodiscard]] inline std::vector<std::string> namesIn(const std::string& list)
{
    std::vector<std::string> names;
    std::istringstream parts(list);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::size_t first = part.find_first_not_of(' ');
        if (first != std::string::npos) {
            names.push_back(part.substr(first, part.find_last_not_of(' ') + 1 - first));
        }
    }
    return names;
}

/// Returns the error for an option that is required and not given.
[[nodiscard]] inline Error missing(const OptionSpec& option)
{
    const bool isListed = !option.choices.empty() && option.beside == Beside::Nothing;
    const std::string typed = option.shortName.empty() ? "--" + option.name : "-" + option.shortName;
    return {"--" + option.name, "missing, expected " + (isListed ? "one of " + joinedText(option.choices)
                                                                 : typed + " " + option.value + ", " +
                                                                       option.help.substr(0, option.help.find(';')))};
}

/// Returns the option of a field, with `value` as its default.
template <class T>
[[nodiscard]] OptionSpec optionOf(const projects::Field& field, const T& value)
{
    using Type = GivenType<T>;
    OptionSpec option{std::string(field.key), OptionKind::Text, std::string(field.more.value), std::string(field.help)};
    option.shortName = field.key == "output" ? "o" : "";
    std::string otherwise(field.more.otherwise);
    constexpr bool hasDefault = std::is_same_v<T, Type>;
    const bool saysValue = hasDefault && otherwise.empty() && field.more.need == projects::Need::Optional;
    if constexpr (std::is_same_v<Type, engine::OtherData> || std::is_same_v<Type, bool>) {
        option.kind = OptionKind::Flag;
        return option;
    } else if constexpr (std::is_arithmetic_v<Type>) {
        option.kind = std::is_integral_v<Type> ? OptionKind::Integer : OptionKind::Real;
        option.minimum = std::max(field.more.range.least, -kMostInteger);
        option.maximum = std::min(field.more.range.most, kMostInteger);
        if constexpr (hasDefault) {
            otherwise = saysValue ? numberText(static_cast<double>(value)) : otherwise;
        }
    } else if constexpr (projects::Named<Type>) {
        option.choices = wordsOf<Type>();
        if constexpr (std::is_same_v<Type, projects::LowRankMethod>) {
            for (const projects::LowRankTraits& traits : projects::kLowRankMethods) {
                std::erase_if(option.choices, [&](const std::string& word) {
                    return !traits.approximates && word == projects::wordOf(traits.method);
                });
            }
        }
        option.help += option.help.empty() ? helpOfWords<Type>(option.choices) : "";
        if constexpr (hasDefault) {
            otherwise = saysValue ? wordsOf<Type>()[static_cast<std::size_t>(value)] : otherwise;
        }
    } else if constexpr (std::is_same_v<Type, std::vector<projects::LowRankMethod>>) {
        option.help += ": " + projects::lowRankMethodWords();
        otherwise = methodList(value);
    } else if constexpr (std::is_same_v<Type, projects::Topology>) {
        option = offering(std::move(option), topologyNames(), Beside::Files);
    }
    option.help += otherwise.empty() ? "" : " (default: " + otherwise + ")";
    return option;
}

/// Returns the options of a struct's own fields, each with its default in the help. A rank has two.
template <class T>
[[nodiscard]] std::vector<OptionSpec> optionsOf()
{
    std::vector<OptionSpec> options;
    const T defaults;
    forEachOption(defaults, [&]<class Value>(const projects::Field& field, const Value& value) {
        options.push_back(optionOf(field, value));
        if constexpr (std::is_same_v<GivenType<Value>, projects::WeightRank>) {
            options.back() = rankScaleOption(options.back().help);
            options.push_back(rankOption());
        }
    });
    return options;
}
/// Returns the options of a request, then those of its run, then `others`.
template <class Request>
[[nodiscard]] std::vector<OptionSpec> optionsOf(std::vector<OptionSpec> others)
{
    std::vector<OptionSpec> options = optionsOf<Request>();
    for (std::vector<OptionSpec> more : {optionsOf<engine::RunRef>(), std::move(others)}) {
        std::ranges::move(more, std::back_inserter(options));
    }
    return options;
}
/// Returns the option of a struct's field with this name, which it has.
template <class T>
[[nodiscard]] OptionSpec optionNamed(std::string_view name)
{
    const std::vector<OptionSpec> options = optionsOf<T>();
    return *std::ranges::find(options, name, &OptionSpec::name);
}
/// Returns the option of a run with this name.
[[nodiscard]] inline OptionSpec runOption(std::string_view name)
{
    return optionNamed<engine::RunRef>(name);
}

/// Reads a field's option into `value`, and leaves it if the option is not given. Does not read parts of the document,
/// which depend on other arguments; their commands do.
template <class T>
[[nodiscard]] Status readOption(const Arguments& arguments, const projects::Field& field, T& value)
{
    using Type = GivenType<T>;
    const std::string name(field.key);
    if constexpr (std::is_same_v<Type, projects::WeightRank>) {
        const auto rank = RESIDUA_TRY(rankFrom(arguments));
        if (!rank && field.more.need == projects::Need::Required) {
            return Error{"", "expected --rank-scale S, a share of each weight's smaller side, or --rank N"};
        }
        value = rank ? *rank : value;
    } else if constexpr (std::is_same_v<Type, projects::Topology>) {
        return Done{}; // depends on the run
    } else if (!arguments.has(name)) {
        return field.more.need == projects::Need::Required ? missing(optionOf(field, value)) : Status(Done{});
    } else if constexpr (std::is_same_v<Type, engine::OtherData>) {
        value = engine::OtherData::Accept;
    } else if constexpr (std::is_same_v<Type, bool>) {
        value = true;
    } else if constexpr (std::is_integral_v<Type>) {
        value = arguments.integer(name, 0);
    } else if constexpr (std::is_floating_point_v<Type>) {
        value = arguments.real(name, 0);
    } else if constexpr (std::is_same_v<Type, std::string> || std::is_same_v<Type, std::filesystem::path>) {
        value = arguments.text(name);
    } else if constexpr (std::is_same_v<Type, std::vector<projects::LowRankMethod>>) {
        const auto methods = methodsFrom(arguments.text(name));
        value = methods ? *methods : value;
        return methods ? Status(Done{}) : methods.error();
    } else if constexpr (std::is_same_v<Type, std::vector<std::string>>) {
        value = namesIn(arguments.text(name));
        if (value.empty()) {
            return Error{"--" + name, "is empty, expected names separated by commas"};
        }
    } else if constexpr (projects::Named<Type>) {
        const std::vector<std::string> words = wordsOf<Type>();
        std::string typed = arguments.text(name);
        std::ranges::replace(typed, '_', '-');
        const auto found = std::ranges::find(words, typed);
        if (found == words.end()) {
            return Error{"--" + name,
                         "got \"" + shortened(arguments.text(name)) + "\", expected one of " + joinedText(words)};
        }
        value = static_cast<Type>(found - words.begin());
    }
    return Done{};
}

/// Returns the run of the first argument. Analyses have --step in place of --from.
[[nodiscard]] inline engine::RunRef runFrom(const Arguments& arguments)
{
    engine::RunRef of{arguments.positional(0)};
    forEachOption(of, [&](const projects::Field& field, auto& value) {
        static_cast<void>(readOption(arguments, field, value)); // the parser has checked them
    });
    of.step = arguments.has("step") ? arguments.integer("step", 0) : of.step;
    return of;
}

/// Makes the path absolute, unless it is empty or `read` is an error already.
inline void makeAbsolute(std::filesystem::path& path, Status& read)
{
    if (read && !path.empty()) {
        const Result<std::filesystem::path> absolute = absolutePath(path);
        read = absolute ? read : absolute.error();
        path = absolute ? *absolute : path;
    }
}

/// Returns a struct with the values of its options; its own paths are absolute. The run of a request is that of
/// runFrom(), with an absolute path if the request writes.
template <class T>
[[nodiscard]] Result<T> requestFrom(const Arguments& arguments)
{
    T request;
    Status read = Done{};
    if constexpr (engine::kIsQuery<T>) {
        request.tag = engine::QueryTag{1};
    }
    if constexpr (requires { request.of; }) {
        request.of = runFrom(arguments);
    }
    if constexpr (
        requires { request.of, request.newRun; } || requires { request.of, request.folder; }) {
        makeAbsolute(request.of.runDirectory, read);
    }
    forEachOption(request, [&](const projects::Field& field, auto& value) {
        read = read ? readOption(arguments, field, value) : read;
        if constexpr (std::is_same_v<std::remove_reference_t<decltype(value)>, std::filesystem::path>) {
            makeAbsolute(value, read);
        }
    });
    return read ? Result<T>(std::move(request)) : read.error();
}

} // namespace residua::cli
