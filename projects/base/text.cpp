// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <vector>

namespace residua {

std::string numberText(double value)
{
    std::array<char, 40> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return {digits.data(), end};
}

std::string numberText(double value, int digits)
{
    std::array<char, 40> buffer{};
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, digits).ptr;
    return {buffer.data(), end};
}

std::string fixedText(double value, int decimals)
{
    std::array<char, 400> buffer{}; // the largest double has 309 digits before its decimals
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals).ptr;
    return {buffer.data(), end};
}

std::string groupedText(std::int64_t number)
{
    std::string text = std::to_string(number);
    const std::size_t first = number < 0 ? 1 : 0;
    for (std::size_t at = text.size(); at > first + 3;) {
        at -= 3;
        text.insert(at, ",");
    }
    return text;
}

std::string countText(std::size_t count, std::string_view noun)
{
    return groupedText(static_cast<std::int64_t>(count)) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string percentText(double share)
{
    return numberText(std::round(share * 1000) / 10) + " %";
}

std::string durationText(double seconds)
{
    if (!(seconds >= 0) || std::isinf(seconds)) {
        return "–";
    }
    constexpr std::int64_t kDay = 86'400;
    constexpr double kMost = 99 * 365.0 * kDay; // longer durations are not distinguished
    const std::int64_t whole = std::llround(std::min(seconds, kMost));
    const auto joined = [](std::int64_t number, const char* unit, std::int64_t rest, const char* smaller) {
        return std::to_string(number) + unit + (rest < 10 ? "0" : "") + std::to_string(rest) + smaller;
    };
    if (whole >= kDay) {
        return joined(whole / kDay, " d ", whole % kDay / 3600, " h");
    }
    if (whole >= 3600) {
        return joined(whole / 3600, " h ", whole % 3600 / 60, " min");
    }
    return whole >= 60 ? joined(whole / 60, " min ", whole % 60, " s") : std::to_string(whole) + " s";
}

Prefixed prefixed(double value, Prefixes prefixes, int digits)
{
    static constexpr std::array<std::string_view, 7> kDecimal{"", "k", "M", "G", "T", "P", "E"};
    static constexpr std::array<std::string_view, 7> kBinary{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    const double base = prefixes == Prefixes::Decimal ? 1000 : 1024;
    const double rounding = 1 - std::pow(10.0, -digits) / 2; // 999.5 is shown with the digits of 1000
    std::size_t prefix = 0;
    while (std::abs(value) >= base * rounding && prefix + 1 < kDecimal.size()) {
        value /= base;
        ++prefix;
    }
    return {value, prefixes == Prefixes::Decimal ? kDecimal[prefix] : kBinary[prefix]};
}

std::string scaledText(double value, Prefixes prefixes, std::string_view unit, std::string_view space)
{
    const auto [number, prefix] = prefixed(value, prefixes);
    const double size = std::abs(number);
    const bool whole = prefix.empty() && number == std::floor(number);
    std::string text = fixedText(number, whole || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
    if (!prefix.empty() || !unit.empty()) {
        text.append(space).append(prefix).append(unit);
    }
    return text;
}

std::string bytesText(double bytes)
{
    const auto [number, prefix] = prefixed(bytes, Prefixes::Binary);
    const int digits = number >= 999.5 ? 4 : 3; // numbers from 1000 to 1023 would get an exponent with three digits
    return numberText(number, digits) + " " + std::string(prefix) + "B";
}

std::string didYouMean(std::string_view meant, HintForm form)
{
    std::string question(form.before);
    return question.append("did you mean ").append(form.quote).append(meant).append(form.quote).append("?");
}

std::size_t editDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> beforeLast(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = a[i - 1] == b[j - 1];
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], beforeLast[j - 2] + 1);
            }
        }
        std::swap(beforeLast, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

} // namespace residua
