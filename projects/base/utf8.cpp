// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/utf8.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

namespace residua {

namespace {

/// The first bytes of a text in another encoding.
struct Beginning {
    std::string_view bytes;
    std::string_view encoding;
};

std::optional<std::string_view> encodingOf(std::string_view bytes, std::span<const Beginning> beginnings)
{
    const auto found = std::ranges::find_if(
        beginnings, [&](const Beginning& beginning) { return bytes.starts_with(beginning.bytes); });
    return found != beginnings.end() ? std::optional(found->encoding) : std::nullopt;
}

unsigned byteAt(std::string_view text, std::size_t at)
{
    return static_cast<unsigned char>(text[at]);
}

} // namespace

std::optional<std::string_view> markedEncoding(std::string_view bytes)
{
    // UTF-32 is tested first, because its mark begins like that of UTF-16.
    static constexpr std::array kMarks{Beginning{{"\xFF\xFE\0\0", 4}, "UTF-32LE"},
                                       Beginning{{"\0\0\xFE\xFF", 4}, "UTF-32BE"},
                                       Beginning{{"\xFF\xFE", 2}, "UTF-16LE"}, Beginning{{"\xFE\xFF", 2}, "UTF-16BE"}};
    return encodingOf(bytes, kMarks);
}

Result<std::string_view> utf8Text(std::string_view bytes)
{
    // The zero bytes beside the first character of a document without a mark.
    static constexpr std::array kBraces{Beginning{{"{\0\0\0", 4}, "UTF-32LE"}, Beginning{{"\0\0\0{", 4}, "UTF-32BE"},
                                        Beginning{{"{\0", 2}, "UTF-16LE"}, Beginning{{"\0{", 2}, "UTF-16BE"}};
    const auto marked = markedEncoding(bytes);
    if (const auto other = marked ? marked : encodingOf(bytes, kBraces)) {
        return Error{"document",
                     "is encoded in " + std::string(*other) + "; expected UTF-8: save it again in that encoding"};
    }
    return bytes.starts_with(kByteOrderMark) ? bytes.substr(kByteOrderMark.size()) : bytes;
}

std::size_t utf8Length(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
        return byte(i) >= low && byte(i) <= high;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) {
        return text.empty() ? 0 : 1;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        return follows(1) ? 2 : 0;
    }
    if (lead >= 0xE0 && lead <= 0xEF) { // excludes overlong forms and surrogates
        return follows(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        return follows(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

std::optional<std::size_t> firstInvalidUtf8(std::string_view text)
{
    constexpr std::uint64_t kHighBits = 0x8080808080808080;
    std::size_t at = 0;
    while (at < text.size()) {
        // Skips ASCII eight bytes at a time.
        std::uint64_t word = 0;
        if (at + sizeof(word) <= text.size()) {
            std::memcpy(&word, text.data() + at, sizeof(word));
            if ((word & kHighBits) == 0) {
                at += sizeof(word);
                continue;
            }
        }
        const std::size_t length = utf8Length(text.substr(at));
        if (length == 0) {
            return at;
        }
        at += length;
    }
    return std::nullopt;
}

bool isUtf8(std::string_view text)
{
    return !firstInvalidUtf8(text);
}

std::size_t wholeCodePoints(std::string_view text)
{
    constexpr std::size_t kLongest = 4;
    for (std::size_t back = 1; back < kLongest && back <= text.size(); ++back) {
        if (!beginsCodePoint(text[text.size() - back])) {
            continue;
        }
        const unsigned byte = byteAt(text, text.size() - back);
        const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
        return length > back ? text.size() - back : text.size();
    }
    return text.size();
}

std::size_t codePoints(std::string_view text)
{
    return static_cast<std::size_t>(std::ranges::count_if(text, beginsCodePoint));
}

std::size_t lastCodePoint(std::string_view text)
{
    std::size_t at = text.size() - 1;
    while (at > 0 && !beginsCodePoint(text[at])) {
        --at;
    }
    return at;
}

char32_t nextCodePoint(std::string_view text, std::size_t& at)
{
    const unsigned lead = byteAt(text, at++);
    if (lead < 0x80) {
        return lead;
    }
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    char32_t codePoint = lead & (0x3fu >> more);
    for (int i = 0; i < more; ++i) {
        codePoint = (codePoint << 6) | (byteAt(text, at++) & 0x3f);
    }
    return codePoint;
}

Character firstCharacter(std::string_view text)
{
    constexpr char32_t kReplacement = 0xFFFD;
    const std::size_t bytes = utf8Length(text);
    if (bytes == 0) {
        return {kReplacement, 1, false};
    }
    std::size_t at = 0;
    return {nextCodePoint(text, at), bytes, true};
}

void appendUtf8(std::string& text, char32_t codePoint)
{
    const auto put = [&text](char32_t byte) { text += static_cast<char>(byte); };
    if (codePoint < 0x80) {
        put(codePoint);
        return;
    }
    const int more = codePoint >= 0x10000 ? 3 : codePoint >= 0x800 ? 2 : 1;
    constexpr std::array<char32_t, 4> kLeads{0x00, 0xc0, 0xe0, 0xf0};
    put(kLeads[static_cast<std::size_t>(more)] | (codePoint >> (6 * more)));
    for (int i = more - 1; i >= 0; --i) {
        put(0x80 | ((codePoint >> (6 * i)) & 0x3f));
    }
}

std::string asUtf8(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8Length(text);
        out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

} // namespace residua
