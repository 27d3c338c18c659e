// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/parameter_name.h"

#include "projects/base/number_from.h"

#include <utility>

namespace residua::projects {
namespace {

constexpr std::string_view kLayers = "layers";

/// What stands before the first dot, and after it.
std::pair<std::string_view, std::string_view> cutAtDot(std::string_view text)
{
    const std::size_t dot = text.find('.');
    return {text.substr(0, dot), dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1)};
}

} // namespace

ParameterName parameterNameFrom(std::string_view text)
{
    const auto [part, rest] = cutAtDot(text);
    if (part == kLayers) {
        const auto [number, inside] = cutAtDot(rest);
        if (const auto layer = numberFrom<std::int64_t>(number); layer && *layer >= 1 && !inside.empty()) {
            return {part, *layer, inside};
        }
    }
    return {part, 0, rest};
}

std::string textOf(const ParameterName& name)
{
    std::string text(name.part);
    if (name.layer > 0) {
        text += "." + std::to_string(name.layer);
    }
    return name.rest.empty() ? text : text + "." + std::string(name.rest);
}

} // namespace residua::projects
