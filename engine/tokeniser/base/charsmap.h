// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace residua::engine {

/// SentencePiece's table of character sequences and their replacements: the length of a double-array trie in bytes, the
/// trie, and the replacements, each ended by a zero. A unit of the trie has its label in bits 0 to 7, a flag for the
/// end of a sequence in bit 8, and the offset of its children in bits 9 to 30; bit 31 marks a unit that holds a value.

/// True if no lookup leaves the table, which may be empty, and each ends at a replacement of whole UTF-8 characters.
[[nodiscard]] bool isSoundCharsmap(std::string_view map);
/// Returns the replacement of the shortest sequence of the table that `text` begins with. Precondition:
/// isSoundCharsmap().
[[nodiscard]] std::optional<std::string_view> replacementIn(std::string_view map, std::string_view text);
/// Returns the bytes of a base64 text; nullopt if it is not base64.
[[nodiscard]] std::optional<std::string> base64Bytes(std::string_view text);

} // namespace residua::engine
