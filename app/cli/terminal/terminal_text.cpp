// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal/terminal_text.h"

#include "projects/base/utf8.h"

#include <algorithm>
#include <iterator>

namespace residua::cli {
namespace {

struct Range {
    char32_t first;
    char32_t last;
};

template <std::size_t count>
bool isIn(char32_t code, const Range (&ranges)[count])
{
    const auto* const after = std::upper_bound(std::begin(ranges), std::end(ranges), code,
                                               [](char32_t value, const Range& range) { return value < range.first; });
    return after != std::begin(ranges) && code <= std::prev(after)->last;
}

constexpr Range kWide[] = {{0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x2E80, 0x303E},
                           {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
                           {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                           {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
                           {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};

constexpr Range kWithoutWidth[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F},
                                   {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
                                   {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};

std::size_t columnsOf(char32_t code)
{
    return isIn(code, kWithoutWidth) ? 0 : isIn(code, kWide) ? 2 : 1;
}

} // namespace

std::size_t columnsOf(std::string_view line)
{
    std::size_t columns = 0;
    while (!line.empty()) {
        const Character character = firstCharacter(line);
        columns += columnsOf(character.code);
        line.remove_prefix(character.bytes);
    }
    return columns;
}

std::string clipped(std::string_view line, std::size_t columns)
{
    if (columnsOf(line) <= columns) {
        return std::string(line);
    }
    std::string result;
    std::size_t filled = 1; // the ellipsis
    while (!line.empty() && columns > 0) {
        const Character character = firstCharacter(line);
        filled += columnsOf(character.code);
        if (filled > columns) {
            break;
        }
        result += line.substr(0, character.bytes);
        line.remove_prefix(character.bytes);
    }
    return columns > 0 ? result + "…" : result;
}

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent)
{
    std::string result;
    std::size_t filled = indent;
    bool first = true; // on its line
    const auto breakLine = [&] {
        result += "\n" + std::string(indent, ' ');
        filled = indent;
        first = true;
    };
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
        const std::string_view word = text.substr(0, end);
        const std::size_t width = columnsOf(word);
        if (!first && filled + 1 + width > columns) {
            breakLine();
        }
        result += first ? "" : " ";
        result += word;
        filled += width + (first ? 0 : 1);
        first = false;
        if (end < text.size() && text[end] == '\n') {
            breakLine();
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

} // namespace residua::cli
