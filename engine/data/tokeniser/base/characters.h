// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/tokeniser/base/part.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace residua::engine {

/// Returns bytes as the 256 characters of byte-level tokenisers: visible characters of Latin-1 represent themselves,
/// and the other bytes are numbered from U+0100 in order.
[[nodiscard]] std::string bytesAsCharacters(std::string_view bytes);
/// Returns the bytes that such characters represent; nullopt if a character is not one of the 256.
[[nodiscard]] std::optional<std::string> charactersAsBytes(std::string_view characters);

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

/// The conversion of spaces to a visible character and the addition of one before the text. Splitting and decoding
/// share it.
struct Metaspace {
    enum class Before { Never, First, Always }; ///< before no piece, the text's first piece, or every piece
    std::string mark;                           ///< the visible character
    Before before = Before::Always;
};

[[nodiscard]] Metaspace readMetaspace(const Part& part);

/// Properties of characters in the Unicode standard, from ICU.
[[nodiscard]] bool isWhiteSpace(char32_t character);
/// True for characters of words: alphabetic, marks, decimal digits and connectors (Unicode technical standard 18, annex
/// C).
[[nodiscard]] bool isWordCharacter(char32_t character);
[[nodiscard]] bool isNumeric(char32_t character); ///< category N
[[nodiscard]] bool isMark(char32_t character);    ///< category M
/// True for category P, and for ASCII's 32 characters that are neither letters, digits nor spaces. This function and
/// the next two use the characters of Unicode 8, with which the models that need them were trained.
[[nodiscard]] bool isPunctuation(char32_t character);
[[nodiscard]] bool isNonspacingMark(char32_t character); ///< category Mn
[[nodiscard]] bool isControlLike(char32_t character);    ///< categories Cc, Cf, Co and Cs

enum class NormalForm { C, D, KC, KD };
/// Returns `text`, which is valid UTF-8, in the normal form.
[[nodiscard]] std::string normalised(std::string_view text, NormalForm form);
/// Returns each character in lower case, independent of its neighbours.
[[nodiscard]] std::string lowercased(std::string_view text);
/// Calls `take` for each grapheme cluster in order.
void forEachGrapheme(std::string_view text, const std::function<void(std::string_view)>& take);

} // namespace residua::engine
