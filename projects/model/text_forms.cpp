// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/text_forms.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace residua::projects {

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
