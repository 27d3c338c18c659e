// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <initializer_list>
#include <string>

namespace residua::editor {

/// What a canvas writes, in the language of the person before it. A text stands in the source in English, as
/// translate("Canvas", "frozen"), the form that Qt's lupdate takes up; the host says what becomes of it.
using Translator = std::string (*)(const char* context, const char* text);

/// Translates with this function from now on, in the current Dear ImGui context, whose user data it is kept in.
void useTranslator(Translator translator);
/// The text in the user's language; as it stands in the source where there is no context, or no translator in it.
[[nodiscard]] std::string translate(const char* context, const char* text);
/// `text` with `%1`, `%2` … replaced by the values.
[[nodiscard]] std::string filled(std::string text, std::initializer_list<std::string> values);

} // namespace residua::editor
