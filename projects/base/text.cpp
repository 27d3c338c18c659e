// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/text.h"

#include <array>
#include <cmath>
#include <cstdio>
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
    std::string text(buffer.data(), end);
    const bool isZero = text.find_first_not_of("-0.") == std::string::npos;
    return isZero && text.starts_with('-') ? text.substr(1) : text; // never "-0.00"
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

namespace {

struct Range {
    char32_t first;
    char32_t last;
};

/// Control characters, and marks that change the order of adjacent characters.
constexpr std::array<Range, 7> kActing{{{0x00, 0x1F},
                                        {0x7F, 0x9F},
                                        {0x061C, 0x061C},
                                        {0x200E, 0x200F},
                                        {0x2028, 0x202E},
                                        {0x2066, 0x2069},
                                        {0xFEFF, 0xFEFF}}};

/// Characters without ink.
constexpr std::array<Range, 9> kBlank{{{0x09, 0x0D},
                                       {0x20, 0x20},
                                       {0xA0, 0xA0},
                                       {0x1680, 0x1680},
                                       {0x2000, 0x200F},
                                       {0x202F, 0x202F},
                                       {0x205F, 0x2064},
                                       {0x3000, 0x3000},
                                       {0xFE00, 0xFE0F}}};

template <std::size_t N>
bool isIn(const std::array<Range, N>& ranges, char32_t code)
{
    return std::ranges::any_of(ranges,
                               [code](const Range& range) { return range.first <= code && code <= range.last; });
}

bool acts(char32_t code)
{
    return isIn(kActing, code);
}

std::string spelt(char32_t code)
{
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), code < 0x100 ? "\\x%02x" : "\\u%04x", static_cast<unsigned>(code));
    return text.data();
}

} // namespace

std::string printable(std::string_view text, LineEnds lineEnds)
{
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const Character character = firstCharacter(text);
        const bool stays = character.code == '\t' || (character.code == '\n' && lineEnds == LineEnds::Keep);
        if (!character.valid) {
            result += "\uFFFD";
        } else if (!stays && acts(character.code)) {
            result += spelt(character.code);
        } else {
            result += text.substr(0, character.bytes);
        }
        text.remove_prefix(character.bytes);
    }
    return result;
}

bool isPrintable(std::string_view name)
{
    return printable(name, LineEnds::Escape) == name;
}

std::string visible(std::string_view text)
{
    const auto blank = [](char32_t code) { return code == ' ' ? std::string("▁") : spelt(code); };
    std::string result;
    while (!text.empty() && isIn(kBlank, firstCharacter(text).code)) {
        const Character character = firstCharacter(text);
        result += blank(character.code);
        text.remove_prefix(character.bytes);
    }
    std::size_t ink = 0; // the bytes up to the last character that has some
    std::string behind;
    for (std::string_view left = text; !left.empty();) {
        const Character character = firstCharacter(left);
        left.remove_prefix(character.bytes);
        if (isIn(kBlank, character.code)) {
            behind += blank(character.code);
        } else {
            ink = text.size() - left.size();
            behind.clear();
        }
    }
    return result + printable(text.substr(0, ink), LineEnds::Escape) + behind;
}

std::string shellQuoted(std::string_view text)
{
    std::string result = "'";
    for (const char c : text) {
        result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return result + "'";
}

std::string shellWord(std::string_view text)
{
    const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool digit = c >= '0' && c <= '9';
        return letter || digit || std::string_view("/._-+,:@%=").find(c) != std::string_view::npos;
    });
    return plain ? std::string(text) : shellQuoted(text);
}

std::string csvField(std::string_view text)
{
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        return std::string(text);
    }
    std::string field = "\"";
    for (const char c : text) {
        field += c == '"' ? "\"\"" : std::string(1, c);
    }
    return field + "\"";
}

} // namespace residua
