// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <initializer_list>
#include <string>

namespace residua::editor {

/// What a canvas writes, in the language of the person before it. A text stands in the source in English, as
/// translate("Canvas", "frozen"), the form that Qt's lupdate takes up; the host says what becomes of it.
using Translator = std::string (*)(const char* context, const char* text);

/// From now on in the current Dear ImGui context, whose user data this takes.
void useTranslator(Translator translator);
/// As it stands in the source where there is no context, or no translator in it.
[[nodiscard]] std::string translate(const char* context, const char* text);
/// With `%1`, `%2` … replaced.
[[nodiscard]] std::string filled(std::string text, std::initializer_list<std::string> values);

} // namespace residua::editor
