// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace residua {

/// U+FEFF, with which some programs begin a text.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
/// UTF-16 or UTF-32 with the order of its bytes ("UTF-16LE"), where `bytes` begin with its byte order mark.
[[nodiscard]] std::optional<std::string_view> markedEncoding(std::string_view bytes);
/// What stands in a text file: `bytes` without a byte order mark of UTF-8. UTF-16 and UTF-32 are errors that name them,
/// placed at "document"; whether each character is well-formed is not looked at.
[[nodiscard]] Result<std::string_view> utf8Text(std::string_view bytes);

/// The length of the well-formed UTF-8 sequence that `text` begins with; 0 for none (RFC 3629, section 4: shortest
/// forms, no surrogates, at most U+10FFFF).
[[nodiscard]] std::size_t utf8Length(std::string_view text);
/// The offset of the first byte that makes `text` no well-formed UTF-8; nullopt where all of it is.
[[nodiscard]] std::optional<std::size_t> firstInvalidUtf8(std::string_view text);
[[nodiscard]] bool isUtf8(std::string_view text);
/// `text` with U+FFFD for each byte that is no part of a well-formed character.
[[nodiscard]] std::string asUtf8(std::string_view text);
/// The bytes of `text` before a code point that its end cuts off.
[[nodiscard]] std::size_t wholeCodePoints(std::string_view text);

/// Whether a character of valid text begins with the byte.
[[nodiscard]] constexpr bool beginsCodePoint(char byte)
{
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}
/// How many code points there are. Precondition: valid text.
[[nodiscard]] std::size_t codePoints(std::string_view text);
/// Where the last code point begins. Precondition: valid text, not empty.
[[nodiscard]] std::size_t lastCodePoint(std::string_view text);
/// The code point at `at`, which moves past it. Precondition: valid text, at < size.
[[nodiscard]] char32_t nextCodePoint(std::string_view text, std::size_t& at);
void appendUtf8(std::string& text, char32_t codePoint);

} // namespace residua
