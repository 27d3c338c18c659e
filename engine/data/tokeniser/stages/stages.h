// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/tokeniser/base/part.h"
#include "engine/data/tokeniser/base/pattern.h"
#include "projects/base/result.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// The treatment of delimiters at which a text is split. Contiguous: adjacent ones form one piece.
enum class Delimiters { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

[[nodiscard]] std::optional<Delimiters> delimitersOf(std::string_view name);

/// A range of a text that is a delimiter or not.
struct Stretch {
    Span span;
    bool delimiter = false;
};

/// Appends the pieces of the stretches of one part, without empty ones.
void appendPieces(const std::vector<Stretch>& stretches, Delimiters delimiters, std::vector<Span>& pieces);

/// Changes tokens so that their concatenation is the text. May leave bytes that are not UTF-8. Any thread.
using Decoder = std::function<void(std::vector<std::string>& tokens)>;

/// Makes the decoder that a component of tokenizer.json describes; empty if the part has failed.
[[nodiscard]] Decoder makeDecoder(const Part& part);

/// Returns `bytes` with one U+FFFD for each longest incomplete character, and for each other byte that belongs to none
/// (Unicode, section 3.9, the practice for substitution).
[[nodiscard]] std::string repairedUtf8(std::string_view bytes);

/// Normalises text before it is split. The text is valid UTF-8 and remains so. Any thread.
using Normaliser = std::function<Status(std::string& text, TextStart start)>;

/// Makes the normaliser that a component of tokenizer.json describes; empty if the part has failed.
[[nodiscard]] Normaliser makeNormaliser(const Part& part);

/// Returns the special tokens that a post-processor of tokenizer.json adds around one text.
[[nodiscard]] DocumentMarks readMarks(const Part& part);

} // namespace residua::engine
