// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace residua::engine {

/// What the Unicode standard says of a character, as ICU has it.
[[nodiscard]] bool isWhiteSpace(char32_t character);
/// Part of a word: alphabetic, a mark, a decimal digit or a connector (Unicode technical standard 18, annex C).
[[nodiscard]] bool isWordCharacter(char32_t character);
[[nodiscard]] bool isNumeric(char32_t character); ///< category N
[[nodiscard]] bool isMark(char32_t character);    ///< category M
/// Whether it is of category P, or one of ASCII's 32 that are neither letters, digits nor spaces. This and the next two
/// are told by the characters of Unicode 8, as the models that ask for them were trained.
[[nodiscard]] bool isPunctuation(char32_t character);
[[nodiscard]] bool isNonspacingMark(char32_t character); ///< category Mn
[[nodiscard]] bool isControlLike(char32_t character);    ///< categories Cc, Cf, Co and Cs

enum class NormalForm { C, D, KC, KD };
/// `text`, which is valid UTF-8, in that form.
[[nodiscard]] std::string normalised(std::string_view text, NormalForm form);
/// Each character in lower case, whatever stands beside it.
[[nodiscard]] std::string lowercased(std::string_view text);
/// What a reader takes for one character, one after another.
void forEachGrapheme(std::string_view text, const std::function<void(std::string_view)>& take);

} // namespace residua::engine
