// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/text_forms.h"

#include "projects/base/text.h"

#include <algorithm>
#include <optional>
#include <string>

namespace residua::projects {
namespace {

constexpr std::string_view kSpan = "i:i+";

/// Parses "3", "L" or "L-1".
std::optional<std::int64_t> layerFrom(std::string_view text, std::int64_t depth)
{
    if (!text.starts_with('L')) {
        return numberFrom<std::int64_t>(text);
    }
    if (text.size() == 1) {
        return depth;
    }
    const std::optional<std::int64_t> before = numberFrom<std::int64_t>(text.substr(1));
    return before && *before < 0 ? std::optional(depth + *before) : std::nullopt;
}

/// Adds the shortcuts of one term. Returns false if the term is invalid.
bool addTerm(std::string_view term, std::int64_t depth, std::vector<Shortcut>& shortcuts)
{
    if (term.starts_with(kSpan)) {
        const std::optional<std::int64_t> span = numberFrom<std::int64_t>(term.substr(kSpan.size()));
        if (!span || *span < 1 || *span > depth) {
            return false;
        }
        for (std::int64_t j = *span; j <= depth; ++j) {
            shortcuts.push_back({j - *span, j});
        }
        return true;
    }
    const std::size_t colon = term.find(':');
    if (colon == std::string_view::npos) {
        return false;
    }
    const std::optional<std::int64_t> source = layerFrom(term.substr(0, colon), depth);
    const std::optional<std::int64_t> target = layerFrom(term.substr(colon + 1), depth);
    if (!source || !target || *source < 0 || *source >= *target || *target > depth) {
        return false;
    }
    shortcuts.push_back({*source, *target});
    return true;
}

} // namespace

Result<std::vector<Shortcut>> shortcutsFrom(std::string_view text, std::int64_t depth)
{
    std::vector<Shortcut> shortcuts;
    const std::string_view terms = text == "cascaded" ? "i:i+1" : text;
    for (std::size_t begin = 0; begin <= terms.size();) {
        const std::size_t inside = terms.substr(begin).starts_with(kSpan) ? kSpan.size() : 0;
        const std::size_t end = std::min(terms.find('+', begin + inside), terms.size());
        if (!addTerm(terms.substr(begin, end - begin), depth, shortcuts)) {
            return Error{"", "\"" + std::string(text) + "\" names no shortcuts; expected i:j with 0 <= i < j <= " +
                                 std::to_string(depth) + " such as 0:2 or 1:2+2:3, or all of one span such as i:i+2"};
        }
        begin = end + 1;
    }
    std::ranges::sort(shortcuts);
    const auto again = std::ranges::unique(shortcuts);
    shortcuts.erase(again.begin(), again.end());
    return shortcuts;
}

} // namespace residua::projects
