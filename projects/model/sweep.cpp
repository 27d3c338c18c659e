// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/sweep.h"

#include "projects/base/json_tree.h"
#include "projects/base/text.h"

#include <algorithm>
#include <cmath>
#include <optional>

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

constexpr std::int64_t kPointsOfRange = 5; ///< of a range of real numbers that does not state them

/// A range of numbers: "1..3", "1e-4..1e-2:5".
struct NumberRange {
    double from = 0;
    double to = 0;
    std::int64_t points = 0;
    bool isWhole = false; ///< both ends are integers
};

std::optional<NumberRange> rangeFrom(std::string_view text)
{
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos) {
        return std::nullopt;
    }
    const std::size_t colon = std::min(text.find(':', dots), text.size());
    const std::string_view first = text.substr(0, dots);
    const std::string_view last = text.substr(dots + 2, colon - dots - 2);
    const auto from = numberFrom<double>(first);
    const auto to = numberFrom<double>(last);
    const bool isWhole = numberFrom<std::int64_t>(first) && numberFrom<std::int64_t>(last);
    if (!from || !to || !std::isfinite(*to - *from)) {
        return std::nullopt;
    }
    constexpr auto kMost = static_cast<double>(kMaxSweepMembers); // a longer list is refused with the sweep
    const auto all = isWhole ? static_cast<std::int64_t>(std::min(std::abs(*to - *from), kMost)) + 1 : kPointsOfRange;
    const auto points = colon < text.size() ? numberFrom<std::int64_t>(text.substr(colon + 1)) : std::optional(all);
    if (!points || *points < 2 || *points > static_cast<std::int64_t>(kMaxSweepMembers) + 1) {
        return std::nullopt;
    }
    return NumberRange{*from, *to, *points, isWhole};
}

/// Returns the numbers of the range as JSON: in equal ratios if it has a number of points and both ends are positive,
/// else in equal differences. Equal neighbours are one.
std::vector<std::string> numbersOf(const NumberRange& range, bool inRatios)
{
    constexpr int kDigits = 4; // of a number between the ends
    std::vector<std::string> numbers;
    for (std::int64_t i = 0; i < range.points; ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(range.points - 1);
        double value = inRatios ? range.from * std::pow(range.to / range.from, share)
                                : range.from + (range.to - range.from) * share;
        if (i > 0 && i + 1 < range.points) {
            value = numberFrom<double>(numberText(value, kDigits)).value_or(value);
        } else {
            value = i == 0 ? range.from : range.to;
        }
        std::string json =
            lineOf(range.isWhole ? JsonValue{.data = std::int64_t{std::llround(value)}} : JsonValue{.data = value});
        if (numbers.empty() || numbers.back() != json) {
            numbers.push_back(std::move(json));
        }
    }
    return numbers;
}

/// Replaces ranges of numbers by their numbers. Other items stay.
std::vector<std::string> withoutRanges(std::vector<std::string> items)
{
    std::vector<std::string> numbers;
    for (std::string& item : items) {
        const std::size_t first = std::min(item.find_first_not_of(kSpaces), item.size());
        const std::string_view typed = std::string_view(item).substr(first, item.find_last_not_of(kSpaces) + 1 - first);
        if (const std::optional<NumberRange> range = rangeFrom(typed)) {
            const bool hasPoints = typed.find(':') != std::string_view::npos || !range->isWhole;
            std::ranges::move(numbersOf(*range, hasPoints && range->from > 0 && range->to > 0),
                              std::back_inserter(numbers));
        } else {
            numbers.push_back(std::move(item));
        }
    }
    return numbers;
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
    for (std::string& item : withoutRanges(listedIn(text.substr(equals + 1)))) {
        axis.values.push_back({{}, {std::move(item)}});
    }
    return axis;
}

std::vector<SweepValue> sweepValuesFrom(const std::string& text)
{
    std::vector<SweepValue> values;
    for (const std::string& item : withoutRanges(listedIn(text))) {
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
