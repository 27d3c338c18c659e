// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/field.h"
#include "projects/model/graph.h"

#include <algorithm>
#include <cmath>

namespace residua::projects {

bool Range::contains(double value) const
{
    const bool above = lower == End::Closed ? value >= least : value > least;
    const bool below = upper == End::Closed ? value <= most : value < most;
    return std::isfinite(value) && above && below;
}

bool Range::contains(std::int64_t value) const
{
    return contains(static_cast<double>(value)); // the ends are far from where a double skips whole numbers
}

namespace {

/// An end of a range: a whole number with all of its digits.
std::string endText(double end)
{
    constexpr double kMostDigits = 1e15;
    const bool whole = end == std::floor(end) && std::abs(end) < kMostDigits;
    return whole ? std::to_string(static_cast<std::int64_t>(end)) : numberText(end);
}

} // namespace

std::string textOf(const Range& range)
{
    const bool ends = range.most < Range::kNoEnd;
    if (range.least > -Range::kNoEnd && ends && range.lower == End::Closed && range.upper == End::Closed) {
        return endText(range.least) + " to " + endText(range.most);
    }
    std::string text;
    if (range.least > -Range::kNoEnd) {
        text = (range.lower == End::Closed ? "at least " : "more than ") + endText(range.least);
    }
    if (ends) {
        text += (text.empty() ? "" : " and ") + std::string(range.upper == End::Closed ? "at most " : "below ") +
                endText(range.most);
    }
    return text.empty() ? "any number" : text;
}

std::string headline(std::string_view words)
{
    std::string text(words);
    const std::string_view first = words.substr(0, words.find(' '));
    const auto isWord = [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '\''; };
    if (first.size() > 1 && std::ranges::all_of(first, isWord)) {
        text[0] = static_cast<char>(text[0] - 'a' + 'A');
    }
    return text;
}

} // namespace residua::projects
