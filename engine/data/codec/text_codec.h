// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/tokeniser/base/part.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// Converts text to tokens and back. Immutable; any thread.
class TextCodec {
public:
    virtual ~TextCodec() = default;
    /// Returns the size of the vocabulary; tokens are less than it.
    [[nodiscard]] virtual std::int64_t vocabulary() const = 0;
    /// Appends the tokens of valid UTF-8. The error names the position of a character that the vocabulary lacks.
    /// `start` is used by codecs that prepend something to a text.
    [[nodiscard]] virtual Status encode(std::string_view text, TextStart start,
                                        std::vector<std::uint32_t>& tokens) const = 0;
    /// Returns valid UTF-8; tokens outside the vocabulary become U+FFFD.
    [[nodiscard]] virtual std::string decode(std::span<const std::int64_t> tokens) const = 0;
    /// Returns one token as its model writes it, such as "▁the"; without a model, its decoded text. A token outside the
    /// vocabulary has no piece: it is U+FFFD, or empty.
    [[nodiscard]] virtual std::string piece(std::int64_t token) const { return decode({&token, 1}); }
    /// Returns a token that occurs in no text; nullopt if every token may occur.
    [[nodiscard]] virtual std::optional<std::int64_t> unusedToken() const { return std::nullopt; }
    /// Returns the tokens that begin and end a document.
    [[nodiscard]] virtual DocumentMarks marks() const { return {}; }
};

/// Returns a codec with one token per byte.
[[nodiscard]] std::unique_ptr<TextCodec> byteCodec();
/// Returns a codec with one token per code point; ids follow the order of the sorted `alphabet`.
[[nodiscard]] std::unique_ptr<TextCodec> characterCodec(std::vector<char32_t> alphabet);
/// Opens a SentencePiece model file.
[[nodiscard]] Result<std::unique_ptr<TextCodec>> sentencePieceCodec(const std::filesystem::path& model);
/// Opens a tokenizer.json of Hugging Face. A document gets the marks of its post-processor. If that adds no end mark,
/// the end token is the one named by tokenizer_config.json beside the file, or else one of the usual names. Returns an
/// error if tokenizer_config.json exists but cannot be read.
[[nodiscard]] Result<std::unique_ptr<TextCodec>> tokenizerJsonCodec(const std::filesystem::path& file);
/// Returns the path of the tokenizer_config.json beside a tokenizer.json, which names its special tokens; it may not
/// exist.
[[nodiscard]] std::filesystem::path tokeniserSettings(const std::filesystem::path& file);
/// Returns the files that a project's tokeniser is read from, by their names in the project: its model and, if it
/// exists, the file beside it. Empty for a tokeniser without a model.
[[nodiscard]] std::vector<std::filesystem::path> tokeniserFiles(const projects::Tokeniser& tokeniser,
                                                                const std::filesystem::path& projectDirectory);
/// Returns the contents of a tokenizer_config.json for transformers: the class that reads any tokenizer.json, the
/// tokens that begin and end a document in tokenizerJsonCodec(), and the mask token if there is one with a name.
[[nodiscard]] Result<std::string> settingsOf(const std::filesystem::path& tokenizerJson,
                                             std::optional<std::int64_t> mask);
/// True if the file names the class of transformers that reads the tokeniser.
[[nodiscard]] bool namesTokeniserClass(const std::filesystem::path& settings);
/// The texts of a tokenizer.json and of the tokenizer_config.json beside it.
struct TokeniserTexts {
    std::string tokeniser;
    std::string settings;
};
/// Returns a tokeniser with the tokens of byteCodec(): the id of a byte is its value. `mask` is the byte that hides
/// others. It is called [MASK] if no text has it, and has no name if it is a blank or not ASCII.
[[nodiscard]] TokeniserTexts byteTokeniserTexts(std::optional<std::int64_t> mask = std::nullopt);
/// Returns a codec for a generated language, with one token per word; words are separated by white space.
[[nodiscard]] std::unique_ptr<TextCodec> wordCodec(std::vector<std::string> words);
/// Returns a codec that writes ids as decimal numbers, for token files with an unknown tokeniser.
[[nodiscard]] std::unique_ptr<TextCodec> idCodec(std::int64_t vocabulary);

} // namespace residua::engine
