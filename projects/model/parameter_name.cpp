// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/parameter_name.h"

#include "projects/base/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace residua::projects {
namespace {

constexpr std::array<std::string_view, 4> kParts{"stem", "layers", "head", "topology"}; ///< in the order of NetworkPart

/// Splits at the first dot and returns the text before and after it.
std::pair<std::string_view, std::string_view> cutAtDot(std::string_view text)
{
    const std::size_t dot = text.find('.');
    return {text.substr(0, dot), dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1)};
}

} // namespace

ParameterName parameterNameFrom(std::string_view text)
{
    const auto [word, rest] = cutAtDot(text);
    const auto found = std::ranges::find(kParts, word);
    if (found == kParts.end()) {
        return {NetworkPart::Other, 0, text};
    }
    const auto part = static_cast<NetworkPart>(found - kParts.begin());
    if (part == NetworkPart::Layers) {
        const auto [number, inside] = cutAtDot(rest);
        if (const auto layer = numberFrom<std::int64_t>(number); layer && *layer >= 1 && !inside.empty()) {
            return {part, *layer, inside};
        }
    }
    return {part, 0, rest};
}

std::string_view withoutTower(std::string_view name)
{
    const std::size_t point = name.find('.');
    const std::string_view rest = point == std::string_view::npos ? std::string_view() : name.substr(point + 1);
    const bool isOfTower =
        parameterNameFrom(name).part == NetworkPart::Other && parameterNameFrom(rest).part != NetworkPart::Other;
    return isOfTower ? rest : name;
}

std::string textOf(const ParameterName& name)
{
    if (name.part == NetworkPart::Other) {
        return std::string(name.rest);
    }
    std::string text(kParts[static_cast<std::size_t>(name.part)]);
    if (name.layer > 0) {
        text += "." + std::to_string(name.layer);
    }
    return name.rest.empty() ? text : text + "." + std::string(name.rest);
}

std::string layerPrefix(std::int64_t layer)
{
    return textOf({NetworkPart::Layers, layer, {}}) + ".";
}

std::string topologyParameter(std::int64_t number, std::string_view rest)
{
    return kTopologyPrefix + std::to_string(number) + "." + std::string(rest);
}

std::string topologyParameter(std::string_view rest)
{
    return kTopologyPrefix + std::string(rest);
}

std::string_view ownerOf(std::string_view name)
{
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

std::string_view lastOf(std::string_view name)
{
    return name.substr(name.rfind('.') + 1); // without a dot rfind gives npos, and npos + 1 is 0
}

std::string siblingOf(std::string_view name, std::string_view last)
{
    const std::string_view owner = ownerOf(name);
    return owner.empty() ? std::string(last) : std::string(owner) + "." + std::string(last);
}

} // namespace residua::projects
