// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/sweep.h"

#include "projects/base/json_tree.h"

#include <algorithm>

namespace residua::projects {

namespace {

constexpr const char* kSpaces = " \t\r\n";

/// Splits at commas outside brackets and quotes.
std::vector<std::string> listedIn(const std::string& text)
{
    std::vector<std::string> items{""};
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '\\' && i + 1 < text.size()) {
            items.back() += c;
            items.back() += text[++i];
            continue;
        }
        quoted = c == '"' ? !quoted : quoted;
        if (!quoted) {
            depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
        }
        if (c == ',' && depth == 0 && !quoted) {
            items.emplace_back();
        } else {
            items.back() += c;
        }
    }
    return items;
}

} // namespace

std::string labelOf(const SweepAxis& axis)
{
    return axis.label.empty() ? axis.field.substr(axis.field.rfind('/') + 1) : axis.label;
}

std::string labelOf(const SweepValue& value)
{
    if (!value.label.empty()) {
        return value.label;
    }
    const std::string& json = value.value.json;
    const bool isText = json.size() > 2 && json.front() == '"' && json.back() == '"';
    return isText ? json.substr(1, json.size() - 2) : json;
}

const Sweep* findSweep(const std::vector<Sweep>& sweeps, const std::string& name)
{
    const auto found = std::ranges::find(sweeps, name, &Sweep::name);
    return found == sweeps.end() ? nullptr : &*found;
}

SweepAxis axisFrom(const std::string& text)
{
    SweepAxis axis;
    const std::size_t equals = text.find('=');
    axis.field = text.substr(0, equals);
    if (equals == std::string::npos || equals + 1 == text.size()) {
        return axis;
    }
    for (std::string& item : listedIn(text.substr(equals + 1))) {
        axis.values.push_back({{}, {std::move(item)}});
    }
    return axis;
}

std::vector<SweepValue> sweepValuesFrom(const std::string& text)
{
    std::vector<SweepValue> values;
    for (const std::string& item : listedIn(text)) {
        const std::size_t first = item.find_first_not_of(kSpaces);
        if (first == std::string::npos) {
            continue;
        }
        const std::string typed = item.substr(first, item.find_last_not_of(kSpaces) + 1 - first);
        Result<JsonValue> value = parseJson(typed);
        std::string json = lineOf(value ? *std::move(value) : JsonValue{.data = typed});
        if (json != "\"\"") {
            values.push_back({{}, {std::move(json)}});
        }
    }
    return values;
}

} // namespace residua::projects
