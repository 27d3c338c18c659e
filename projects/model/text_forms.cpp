// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/graph.h"

#include "projects/base/text.h"

#include <algorithm>
#include <charconv>
#include <limits>
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

namespace {

/// Parses a decimal without sign or leading zeros, at most the type's largest value minus one, so that the next id or
/// reader still has a number.
template <class Number>
std::optional<Number> wholeFrom(std::string_view text)
{
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool plain = !text.empty() && (text == "0" || (text.front() >= '1' && text.front() <= '9'));
    if (!plain || error != std::errc{} || end != text.data() + text.size() ||
        value == std::numeric_limits<Number>::max()) {
        return std::nullopt;
    }
    return value;
}

bool isPortName(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
}

std::string textOf(const PortRef& port)
{
    return textOf(port.node) + "." + port.port;
}

std::optional<PortRef> portFrom(std::string_view text)
{
    const std::size_t dot = text.find('.');
    if (dot == std::string_view::npos) {
        return std::nullopt;
    }
    const auto node = nodeIdFrom(text.substr(0, dot));
    const std::string_view port = text.substr(dot + 1);
    if (!node || !isPortName(port)) {
        return std::nullopt;
    }
    return PortRef{*node, std::string(port)};
}

} // namespace

std::string textOf(NodeId id)
{
    return std::to_string(static_cast<std::uint32_t>(id));
}

std::string textOf(const Shortcut& value)
{
    return std::to_string(value.source) + ":" + std::to_string(value.target);
}

std::string textOf(const Wire& value)
{
    return textOf(value.from) + " > " + textOf(value.to);
}

std::optional<NodeId> nodeIdFrom(std::string_view text)
{
    const auto value = wholeFrom<std::uint32_t>(text);
    return value ? std::optional(NodeId{*value}) : std::nullopt;
}

std::optional<Shortcut> shortcutFrom(std::string_view text)
{
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    const auto source = wholeFrom<std::int64_t>(text.substr(0, colon));
    const auto target = wholeFrom<std::int64_t>(text.substr(colon + 1));
    if (!source || !target || *source >= *target) {
        return std::nullopt;
    }
    return Shortcut{*source, *target};
}

std::optional<Wire> wireFrom(std::string_view text)
{
    constexpr std::string_view kArrow = " > ";
    const std::size_t arrow = text.find(kArrow);
    if (arrow == std::string_view::npos) {
        return std::nullopt;
    }
    auto from = portFrom(text.substr(0, arrow));
    auto to = portFrom(text.substr(arrow + kArrow.size()));
    if (!from || !to) {
        return std::nullopt;
    }
    return Wire{*std::move(from), *std::move(to)};
}

} // namespace residua::projects
