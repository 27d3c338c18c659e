// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace residua::engine {

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
