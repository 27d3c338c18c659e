// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/html_text.h"

#include "projects/base/utf8.h"

#include <algorithm>
#include <vector>

namespace residua::report {
namespace {

constexpr double kGlyph = 7;                 ///< approximate width of a Latin letter
constexpr double kWideGlyph = 13;            ///< of scripts with square letters
constexpr const char* kFirstWide = "\u2E80"; ///< the first of these scripts

/// Splits well-formed UTF-8 into characters.
std::vector<std::string_view> charactersOf(std::string_view text)
{
    std::vector<std::string_view> characters;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + 1;
        while (end < text.size() && !beginsCodePoint(text[end])) {
            ++end;
        }
        characters.push_back(text.substr(at, end - at));
        at = end;
    }
    return characters;
}

double widthOf(std::string_view character)
{
    return character < std::string_view(kFirstWide) ? kGlyph : kWideGlyph;
}

bool isControl(char c)
{
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
}

} // namespace

std::string escapeHtml(std::string_view text)
{
    std::string escaped;
    for (const char c : asUtf8(text)) {
        switch (c) {
        case '&':
            escaped += "&amp;";
            break;
        case '<':
            escaped += "&lt;";
            break;
        case '>':
            escaped += "&gt;";
            break;
        case '\'':
            escaped += "&#39;";
            break;
        case '"':
            escaped += "&quot;";
            break;
        default:
            isControl(c) ? escaped.append("\uFFFD") : escaped.append(1, c);
        }
    }
    return escaped;
}

double textWidth(std::string_view text)
{
    double width = 0;
    for (const std::string_view character : charactersOf(text)) {
        width += widthOf(character);
    }
    return width;
}

std::string elided(const std::string& text, double width)
{
    if (textWidth(text) <= width) {
        return text;
    }
    const auto characters = charactersOf(text);
    std::string head;
    std::string tail;
    double left = width - kGlyph; // minus the ellipsis
    for (std::size_t i = 0; i < characters.size() / 2; ++i) {
        const std::string_view first = characters[i];
        const std::string_view last = characters[characters.size() - 1 - i];
        left -= widthOf(first) + widthOf(last);
        if (left < 0) {
            break;
        }
        head += first;
        tail.insert(0, last);
    }
    return head + "…" + tail;
}

std::string shortened(const std::string& text, std::size_t bytes)
{
    if (text.size() <= bytes) {
        return text;
    }
    std::size_t end = bytes;
    while (end > 0 && !beginsCodePoint(text[end])) {
        --end;
    }
    return text.substr(0, end) + "… (" + std::to_string(text.size()) + " bytes)";
}

} // namespace residua::report
