// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/json_tree.h"

#include <algorithm>

namespace residua {

std::optional<DeepNesting> tooDeep(std::string_view text, int levels)
{
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            i += c == '\\' ? 1 : 0;
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '[' || c == '{') {
            if (++depth > levels) {
                return DeepNesting{i, "is nested deeper than " + std::to_string(levels) + " levels"};
            }
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return std::nullopt;
}

std::optional<std::string_view> keyGivenTwice(std::vector<std::string_view> keys)
{
    std::ranges::sort(keys);
    const auto twin = std::ranges::adjacent_find(keys);
    return twin == keys.end() ? std::nullopt : std::optional(*twin);
}

} // namespace residua
