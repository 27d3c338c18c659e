// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/project_argument.h"
#include "engine/base/api/describe_requests.h"
#include "projects/base/text.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

// The options of the fields of a request that have a help (engine/base/api/describe_requests.h).
namespace residua::cli {

template <class T>
inline constexpr bool kIsWhole = std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::optional<std::int64_t>>;

/// Calls `take` with each such field and its member of `request`.
template <class Request, class Take>
void forEachOption(Request& request, const Take& take)
{
    projects::Fields<std::remove_const_t<Request>>::visit([&](const projects::Field& field, auto member) {
        using T = std::remove_cvref_t<decltype(request.*member)>;
        if constexpr (std::is_arithmetic_v<T> || kIsWhole<T> || std::is_same_v<T, std::string> || projects::Named<T>) {
            if (!field.help.empty()) {
                take(field, request.*member);
            }
        }
    });
}

/// Returns the options, each with its default in the help, unless the field's help has it.
template <class Request>
[[nodiscard]] std::vector<OptionSpec> optionsOf()
{
    std::vector<OptionSpec> options;
    const Request defaults;
    forEachOption(defaults, [&]<class T>(const projects::Field& field, const T& value) {
        OptionSpec option{std::string(field.key), OptionKind::Text, std::string(field.title), std::string(field.help)};
        if constexpr (std::is_arithmetic_v<T> || kIsWhole<T>) {
            const projects::Range& range = field.more.range;
            option.kind = kIsWhole<T> ? OptionKind::Integer : OptionKind::Real;
            option.minimum = std::max(range.least, -kMostInteger);
            option.maximum = std::min(range.most, kMostInteger);
            if constexpr (std::is_arithmetic_v<T>) {
                const bool told = option.help.find("(default") != std::string::npos;
                option.help += told ? "" : " (default " + numberText(real(value)) + ")";
            }
        } else if constexpr (projects::Named<T>) {
            option.choices.assign(projects::kNamesOf<T>.begin(), projects::kNamesOf<T>.end());
        }
        options.push_back(std::move(option));
    });
    return options;
}

/// Returns a request about the run of the arguments, with the values of these options.
template <class Request>
[[nodiscard]] Result<Request> requestFrom(const Arguments& arguments)
{
    Request request;
    request.tag = engine::QueryTag{1};
    request.of = runFrom(arguments);
    Status read = Done{};
    forEachOption(request, [&]<class T>(const projects::Field& field, T& value) {
        const std::string name(field.key);
        if constexpr (kIsWhole<T>) {
            value = arguments.has(name) ? T(arguments.integer(name, 0)) : value;
        } else if constexpr (std::is_floating_point_v<T>) {
            value = arguments.real(name, value);
        } else if constexpr (std::is_same_v<T, std::string>) {
            value = arguments.text(name, value);
        } else if (const auto& words = projects::kNamesOf<T>; arguments.has(name)) {
            const auto found = std::ranges::find(words, arguments.text(name));
            value = found == words.end() ? value : static_cast<T>(found - words.begin());
            read = found != words.end()
                       ? read
                       : Error{"--" + name, "got \"" + arguments.text(name) + "\", expected " + choiceText(words)};
        }
    });
    return read ? Result<Request>(std::move(request)) : read.error();
}

} // namespace residua::cli
