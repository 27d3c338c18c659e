// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

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

/// Returns the width of a line of text.
using TextWidth = std::function<float(const std::string& text)>;
/// Returns `text`, cut with an ellipsis to `width`; empty if nothing of it fits. Of a text that is much longer, only
/// the beginning is measured.
[[nodiscard]] std::string elided(const std::string& text, float width, const TextWidth& widthOf);
/// Returns `text` in lines of at most `width`, broken between words.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, float width, const TextWidth& widthOf);

} // namespace residua::editor
