// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/number_from.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace residua::tests {

/// What an option sets; numbers are at least 0.
using OptionPlace = std::variant<std::string*, std::int64_t*, int*>;

/// False where the text is no value for the place.
inline bool setOption(OptionPlace place, std::string_view text)
{
    if (std::string** const words = std::get_if<std::string*>(&place)) {
        **words = text;
        return true;
    }
    const std::optional<int> number = numberFrom<int>(text);
    if (!number || *number < 0) {
        return false;
    }
    if (std::int64_t** const whole = std::get_if<std::int64_t*>(&place)) {
        **whole = *number;
    } else {
        *std::get<int*>(place) = *number;
    }
    return true;
}

/// Reads "--name value ..." into the places. Ends the program with a message and code 2 where it cannot.
inline void readOptions(int argc, char** argv, const std::map<std::string, OptionPlace>& options)
{
    for (int i = 1; i < argc; i += 2) {
        const auto found = options.find(argv[i]);
        const bool set = found != options.end() && i + 1 < argc && setOption(found->second, argv[i + 1]);
        if (!set) {
            std::fprintf(stderr, "%s: no such option, or no value for it: %s; known are:", argv[0], argv[i]);
            for (const auto& [name, place] : options) {
                std::fprintf(stderr, " %s", name.c_str());
            }
            std::fprintf(stderr, "\n");
            std::exit(2);
        }
    }
}

} // namespace residua::tests
