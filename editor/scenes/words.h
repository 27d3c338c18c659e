// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/live_weights.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

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
/// Returns `text`, shortened with an ellipsis to `width`. Empty if not even one character fits. Measures only the
/// beginning of a text that is much longer.
[[nodiscard]] std::string elided(const std::string& text, float width, const TextWidth& widthOf);
/// Returns `text` in lines of at most `width`, broken between words.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, float width, const TextWidth& widthOf);

/// Returns the name of the live numbers: weights, shares of a row, effects, spreads or the weights of one feature.
[[nodiscard]] std::string nameOfValue(const LiveWeights& weights, LiveMeasure measure = LiveMeasure::Mean);

/// Formats one of these numbers, with the same digits as in heatmap and outline.
[[nodiscard]] std::string textOfValue(const LiveWeights& weights, double value,
                                      LiveMeasure measure = LiveMeasure::Mean);

/// Returns the measured effect of a shortcut: "loss +0.012 ± 0.003 without it (step 200)". Empty if it is unknown.
[[nodiscard]] std::string effectText(const LiveWeights& weights, const projects::Shortcut& shortcut);

/// Returns "3:7", followed by the names of the modules if these differ from the numbers: "3:7  (2a to 4a)".
[[nodiscard]] std::string titleOf(const projects::Project& project, const projects::Shortcut& shortcut);

/// Describes a frozen shortcut: "frozen", "frozen at 0.25", "frozen at what a run learned".
[[nodiscard]] std::string frozenText(const projects::Project& project, const projects::Shortcut& shortcut);

} // namespace residua::editor
