// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace residua::engine {

/// The offset of the first byte that no valid UTF-8 (RFC 3629: shortest forms, no surrogates, at most
/// U+10FFFF) has there.
[[nodiscard]] std::optional<std::size_t> firstInvalidUtf8(std::string_view text);

/// Where a part of a text begins.
struct TextPosition {
    std::size_t offset = 0; ///< bytes before it
    std::size_t line = 1;
};
/// An error that names `place`, the line, the offset and the byte; Done where all is valid.
[[nodiscard]] Status checkUtf8(std::string_view text, const std::string& place, TextPosition begin = {});
/// The bytes of `text` before a code point that its end cuts off.
[[nodiscard]] std::size_t wholeCodePoints(std::string_view text);

/// U+FEFF, with which some programs begin a text.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
/// Looks at the beginning of a file: UTF-16 and UTF-32, and what has so many zero bytes that it is no text, are errors
/// that name the encoding and how to convert it.
[[nodiscard]] Status checkEncoding(std::string_view head, const std::string& place);

/// The code point at `at`, which moves past it. Precondition: valid text, at < size.
[[nodiscard]] char32_t nextCodePoint(std::string_view text, std::size_t& at);
void appendUtf8(std::string& text, char32_t codePoint);

/// `text` with U+FFFD for every byte that is not part of valid UTF-8.
[[nodiscard]] std::string repairedUtf8(std::string_view text);

} // namespace residua::engine
