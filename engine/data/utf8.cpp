// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/utf8.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace residua::engine {
namespace {

unsigned byteAt(std::string_view text, std::size_t at)
{
    return static_cast<unsigned char>(text[at]);
}

/// Bytes of the sequence at `at`; 0 where it is not valid.
std::size_t sequenceLength(std::string_view text, std::size_t at)
{
    const unsigned lead = byteAt(text, at);
    if (lead < 0x80) {
        return 1;
    }
    std::size_t length = 0;
    unsigned lowest = 0x80; // of the second byte: rules out longer forms than needed, surrogates and beyond U+10FFFF
    unsigned highest = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) {
        length = 2;
    } else if (lead >= 0xe0 && lead <= 0xef) {
        length = 3;
        lowest = lead == 0xe0 ? 0xa0 : lowest;
        highest = lead == 0xed ? 0x9f : highest;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
        length = 4;
        lowest = lead == 0xf0 ? 0x90 : lowest;
        highest = lead == 0xf4 ? 0x8f : highest;
    }
    if (length == 0 || at + length > text.size() || byteAt(text, at + 1) < lowest || byteAt(text, at + 1) > highest) {
        return 0;
    }
    for (std::size_t i = 2; i < length; ++i) {
        if ((byteAt(text, at + i) & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

} // namespace

std::optional<std::size_t> firstInvalidUtf8(std::string_view text)
{
    constexpr std::uint64_t kHighBits = 0x8080808080808080;
    std::size_t at = 0;
    while (at < text.size()) {
        // Plain ASCII, eight bytes at a time.
        std::uint64_t word = 0;
        if (at + sizeof(word) <= text.size()) {
            std::memcpy(&word, text.data() + at, sizeof(word));
            if ((word & kHighBits) == 0) {
                at += sizeof(word);
                continue;
            }
        }
        const std::size_t length = sequenceLength(text, at);
        if (length == 0) {
            return at;
        }
        at += length;
    }
    return std::nullopt;
}

Status checkUtf8(std::string_view text, const std::string& place, TextPosition begin)
{
    const auto flaw = firstInvalidUtf8(text);
    if (!flaw) {
        return Done{};
    }
    const auto newlines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*flaw), '\n');
    const std::size_t line = begin.line + static_cast<std::size_t>(newlines);
    std::array<char, 8> byte{};
    std::snprintf(byte.data(), byte.size(), "0x%02x", byteAt(text, *flaw));
    return Error{place + ":" + std::to_string(line), "byte " + std::string(byte.data()) + " at offset " +
                                                         std::to_string(begin.offset + *flaw) + " is not valid UTF-8"};
}

std::size_t wholeCodePoints(std::string_view text)
{
    constexpr std::size_t kLongest = 4;
    for (std::size_t back = 1; back < kLongest && back <= text.size(); ++back) {
        const unsigned byte = byteAt(text, text.size() - back);
        if ((byte & 0xc0) == 0x80) {
            continue; // its lead is further back
        }
        const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
        return length > back ? text.size() - back : text.size();
    }
    return text.size();
}

Status checkEncoding(std::string_view head, const std::string& place)
{
    const auto convert = [&](const std::string& encoding, const std::string& found) {
        return Error{place, found + encoding + "; expected UTF-8: convert it with iconv -f " + encoding +
                                " -t UTF-8 OLD > NEW"};
    };
    struct Mark {
        std::string_view bytes;
        const char* encoding;
    };
    using namespace std::string_view_literals;
    // UTF-32 first: its mark begins as that of UTF-16.
    constexpr std::array kMarks{Mark{"\xff\xfe\0\0"sv, "UTF-32LE"}, Mark{"\0\0\xfe\xff"sv, "UTF-32BE"},
                                Mark{"\xff\xfe"sv, "UTF-16LE"}, Mark{"\xfe\xff"sv, "UTF-16BE"}};
    for (const Mark& mark : kMarks) {
        if (head.starts_with(mark.bytes)) {
            return convert(mark.encoding, "is ");
        }
    }
    std::array<std::size_t, 2> zeros{}; // at even and odd offsets
    for (std::size_t i = 0; i < head.size(); ++i) {
        zeros[i % 2] += head[i] == '\0' ? 1 : 0;
    }
    if (4 * (zeros[0] + zeros[1]) < std::max<std::size_t>(head.size(), 8)) {
        return Done{};
    }
    if (zeros[0] == 0 || zeros[1] == 0) {
        return convert(zeros[0] == 0 ? "UTF-16LE" : "UTF-16BE", "looks like ");
    }
    return Error{place, std::to_string(zeros[0] + zeros[1]) + " of its first " + std::to_string(head.size()) +
                            " bytes are zero; expected UTF-8 text"};
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

std::string repairedUtf8(std::string_view text)
{
    std::string repaired;
    repaired.reserve(text.size());
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t length = sequenceLength(text, at);
        if (length == 0) {
            appendUtf8(repaired, U'\uFFFD');
            ++at;
        } else {
            repaired += text.substr(at, length);
            at += length;
        }
    }
    return repaired;
}

} // namespace residua::engine
