// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace residua::engine {

/// The offset of the first byte that no valid UTF-8 (RFC 3629: shortest forms, no surrogates, at most
/// U+10FFFF) has there.
[[nodiscard]] std::optional<std::size_t> firstInvalidUtf8(std::string_view text);

/// An error that names `place`, the line, the offset and the byte; Done where all is valid. `firstLine` is the
/// number of the text's first line.
[[nodiscard]] Status checkUtf8(std::string_view text, const std::string& place, std::size_t firstLine = 1);

/// The code point at `at`, which moves past it. Precondition: valid text, at < size.
[[nodiscard]] char32_t nextCodePoint(std::string_view text, std::size_t& at);
void appendUtf8(std::string& text, char32_t codePoint);

/// `text` with U+FFFD for every byte that is not part of valid UTF-8.
[[nodiscard]] std::string repairedUtf8(std::string_view text);

} // namespace residua::engine
