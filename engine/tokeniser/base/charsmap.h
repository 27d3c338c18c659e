// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace residua::engine {

/// SentencePiece's table of character sequences and their replacements: the length of a double-array trie in bytes, the
/// trie, and the replacements, each ended by a zero. A unit of the trie has its label in bits 0 to 7, whether it ends a
/// sequence in bit 8, and in bits 9 to 30 how far its children are; bit 31 marks a unit that holds a value.

/// Whether no walk leaves the table, which may be empty, and each ends at a replacement of whole characters in UTF-8.
[[nodiscard]] bool isSoundCharsmap(std::string_view map);
/// The replacement of the shortest sequence of the table that `text` begins with. Precondition: a sound table.
[[nodiscard]] std::optional<std::string_view> replacementIn(std::string_view map, std::string_view text);
/// What base64 stands for; nothing where the text is none.
[[nodiscard]] std::optional<std::string> base64Bytes(std::string_view text);

} // namespace residua::engine
