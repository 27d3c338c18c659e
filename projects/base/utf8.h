// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace residua {

/// U+FEFF in UTF-8. Some programs begin a text with it.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
/// Returns the name of UTF-16 or UTF-32 with its byte order ("UTF-16LE") if `bytes` begin with its byte order mark.
[[nodiscard]] std::optional<std::string_view> markedEncoding(std::string_view bytes);
/// Returns the text of a file: `bytes` without a UTF-8 byte order mark. UTF-16 and UTF-32 are errors that name the
/// encoding, placed at "document". Does not check whether the characters are well-formed.
[[nodiscard]] Result<std::string_view> utf8Text(std::string_view bytes);

/// Returns the length of the well-formed UTF-8 sequence at the start of `text`, or 0 if it is malformed (RFC 3629,
/// section 4: shortest forms, no surrogates, at most U+10FFFF).
[[nodiscard]] std::size_t utf8Length(std::string_view text);
/// Returns the offset of the first byte that is not well-formed UTF-8, or nullopt if all of `text` is.
[[nodiscard]] std::optional<std::size_t> firstInvalidUtf8(std::string_view text);
[[nodiscard]] bool isUtf8(std::string_view text);
/// Returns `text` with U+FFFD in place of each byte that is not part of a well-formed character.
[[nodiscard]] std::string asUtf8(std::string_view text);
/// Returns the number of bytes of `text` before a code point that is cut off at its end, if any.
[[nodiscard]] std::size_t wholeCodePoints(std::string_view text);

/// True if a character of valid text begins with the byte.
[[nodiscard]] constexpr bool beginsCodePoint(char byte)
{
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}
/// Returns the number of code points. Precondition: valid text.
[[nodiscard]] std::size_t codePoints(std::string_view text);
/// Returns the offset of the last code point. Precondition: valid text, not empty.
[[nodiscard]] std::size_t lastCodePoint(std::string_view text);
/// Returns the code point at `at` and moves `at` past it. Precondition: valid text, at < size.
[[nodiscard]] char32_t nextCodePoint(std::string_view text, std::size_t& at);

struct Character {
    char32_t code = 0;
    std::size_t bytes = 1;
    bool valid = true;
};
/// Returns the first character of a text that is not empty. A byte that is not UTF-8 is one invalid character, U+FFFD.
[[nodiscard]] Character firstCharacter(std::string_view text);

void appendUtf8(std::string& text, char32_t codePoint);

} // namespace residua
