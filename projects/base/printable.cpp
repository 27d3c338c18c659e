// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/printable.h"

#include "projects/base/utf8.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace residua {
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
