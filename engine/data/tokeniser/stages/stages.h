// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/tokeniser/base/part.h"
#include "engine/data/tokeniser/base/pattern.h"
#include "projects/base/result.h"

#include <memory>
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

/// Converts tokens to text. Immutable; any thread.
class Decoder {
public:
    virtual ~Decoder() = default;
    /// Changes the tokens so that their concatenation is the text. May leave bytes that are not UTF-8.
    virtual void apply(std::vector<std::string>& tokens) const = 0;
};

/// Makes the decoder that a component of tokenizer.json describes; null if the part has failed.
[[nodiscard]] std::unique_ptr<Decoder> makeDecoder(const Part& part);

/// Returns `bytes` with one U+FFFD for each longest incomplete character, and for each other byte that belongs to none
/// (Unicode, section 3.9, the practice for substitution).
[[nodiscard]] std::string repairedUtf8(std::string_view bytes);

/// Normalises text before it is split. Immutable; any thread.
class Normaliser {
public:
    virtual ~Normaliser() = default;
    /// Changes `text`, which is valid UTF-8 and remains so.
    [[nodiscard]] virtual Status apply(std::string& text, TextStart start) const = 0;
};

/// Makes the normaliser that a component of tokenizer.json describes; null if the part has failed.
[[nodiscard]] std::unique_ptr<Normaliser> makeNormaliser(const Part& part);

/// Returns the special tokens that a post-processor of tokenizer.json adds around one text.
[[nodiscard]] DocumentMarks readMarks(const Part& part);

} // namespace residua::engine
