// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace residua::tests {

/// The variable that an option sets. Numbers are at least 0, lists are separated by commas, and a bool is a flag
/// without a value.
using OptionPlace = std::variant<std::string*, std::int64_t*, int*, double*, bool*, std::vector<std::string>*,
                                 std::vector<std::int64_t>*>;

template <class Number>
bool setValue(Number& place, std::string_view text)
{
    const std::optional<Number> number = numberFrom<Number>(text);
    if (!number || *number < 0) {
        return false;
    }
    place = *number;
    return true;
}

inline bool setValue(std::string& place, std::string_view text)
{
    place = text;
    return !text.empty();
}

template <class Item>
bool setValue(std::vector<Item>& place, std::string_view text)
{
    place.clear();
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        if (!setValue(place.emplace_back(), text.substr(begin, end - begin))) {
            return false;
        }
        begin = end + 1;
    }
    return true;
}

/// Reads "--name value ..." into the places; `--help` prints `help` and ends the program. An unknown option or value
/// ends the program with a message and code 2.
inline void readOptions(int argc, char** argv, const char* help, const std::map<std::string, OptionPlace>& options)
{
    for (int i = 1; i < argc; ++i) {
        if (std::string_view(argv[i]) == "--help") {
            std::fputs(help, stdout);
            std::exit(0);
        }
        const auto found = options.find(argv[i]);
        bool set = found != options.end();
        if (set) {
            if (bool* const* const flag = std::get_if<bool*>(&found->second)) {
                **flag = true;
                continue;
            }
            const char* const value = ++i < argc ? argv[i] : "";
            set = std::visit(
                [value](auto* place) {
                    if constexpr (std::is_same_v<decltype(place), bool*>) {
                        return true;
                    } else {
                        return setValue(*place, value);
                    }
                },
                found->second);
        }
        if (!set) {
            const char* const problem = found == options.end() ? "unknown option" : "invalid value of";
            std::fprintf(stderr, "%s: %s %s\n\n%s", argv[0], problem,
                         found == options.end() ? argv[i] : found->first.c_str(), help);
            std::exit(2);
        }
    }
}

} // namespace residua::tests
