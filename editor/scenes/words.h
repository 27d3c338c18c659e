// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <initializer_list>
#include <string>

namespace residua::editor {

/// Translates the texts of the canvases to the user's language. The source has them in English as translate("Canvas",
/// "frozen"), which Qt's lupdate finds. The host provides the translation.
using Translator = std::string (*)(const char* context, const char* text);

/// Sets the translator of the process; null: none. Any thread.
void useTranslator(Translator translator);
/// Returns the text in the user's language, or unchanged if there is no translator.
[[nodiscard]] std::string translate(const char* context, const char* text);
/// Returns `text` with `%1`, `%2` … replaced by the values.
[[nodiscard]] std::string filled(std::string text, std::initializer_list<std::string> values);

} // namespace residua::editor
