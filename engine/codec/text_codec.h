// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokeniser/base/document_marks.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// Text to tokens and back. Immutable; any thread.
class TextCodec {
public:
    virtual ~TextCodec() = default;
    /// Tokens are below it.
    [[nodiscard]] virtual std::int64_t vocabulary() const = 0;
    /// Appends the tokens of valid UTF-8; an error names the position of what the vocabulary lacks. `start` matters to
    /// those that put something before a text.
    [[nodiscard]] virtual Status encode(std::string_view text, TextStart start,
                                        std::vector<std::uint32_t>& tokens) const = 0;
    /// Valid UTF-8; tokens outside of the vocabulary become U+FFFD.
    [[nodiscard]] virtual std::string decode(std::span<const std::int64_t> tokens) const = 0;
    /// One token below the vocabulary as its model writes it, such as "▁the"; without a model what it decodes to.
    [[nodiscard]] virtual std::string piece(std::int64_t token) const { return decode({&token, 1}); }
    /// What stands around a document.
    [[nodiscard]] virtual DocumentMarks marks() const { return {}; }
};

/// Each byte is a token.
[[nodiscard]] std::unique_ptr<TextCodec> byteCodec();
/// Each code point is a token; ids follow the order of the sorted `alphabet`.
[[nodiscard]] std::unique_ptr<TextCodec> characterCodec(std::vector<char32_t> alphabet);
/// A SentencePiece model file.
[[nodiscard]] Result<std::unique_ptr<TextCodec>> sentencePieceCodec(const std::filesystem::path& model);
/// A tokenizer.json of Hugging Face. A document has the marks of its post-processor; where nothing ends it, the token
/// for that does: the one that tokenizer_config.json beside the file names, or one of the usual names. Such a file that
/// cannot be read is an error.
[[nodiscard]] Result<std::unique_ptr<TextCodec>> tokenizerJsonCodec(const std::filesystem::path& file);
/// The file beside a tokenizer.json that names its tokens for special uses; it need not be there.
[[nodiscard]] std::filesystem::path tokeniserSettings(const std::filesystem::path& file);
/// The files that a tokeniser of a project is read from, by the names that the project has for them: its model, and
/// what lies beside that where it is there. None for a tokeniser without a model.
[[nodiscard]] std::vector<std::filesystem::path> tokeniserFiles(const projects::Tokeniser& tokeniser,
                                                                const std::filesystem::path& projectDirectory);
/// The contents of a tokenizer_config.json for transformers: the class that reads any tokenizer.json, and the tokens
/// that begin and end a document in tokenizerJsonCodec().
[[nodiscard]] Result<std::string> settingsOf(const std::filesystem::path& tokenizerJson);
/// Whether such a file says which class of transformers reads the tokeniser.
[[nodiscard]] bool namesTokeniserClass(const std::filesystem::path& settings);
/// A tokenizer.json that makes the tokens of byteCodec(): each byte's is its number.
[[nodiscard]] std::string byteTokenizerJson();
/// Words separated by white space, each a token: a generated language.
[[nodiscard]] std::unique_ptr<TextCodec> wordCodec(std::vector<std::string> words);
/// Ids as decimal numbers: token files, whose tokeniser is not known.
[[nodiscard]] std::unique_ptr<TextCodec> idCodec(std::int64_t vocabulary);

} // namespace residua::engine
