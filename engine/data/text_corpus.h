// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/preparation.h"
#include "engine/data/text_codec.h"
#include "engine/data/token_sequence.h"
#include "projects/data_source.h"
#include "projects/result.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// A text of its own: a file, or a line of JSON Lines. Valid UTF-8.
struct Document {
    std::string_view text;
    std::shared_ptr<const void> owner; ///< keeps the text alive: a mapping, or memory
};

/// The file, or every *.txt below the folder in the order of their paths. Text is mapped, never copied.
[[nodiscard]] Result<std::vector<Document>> readTextFiles(const std::filesystem::path& path);
/// The string `field` of every line that is not blank, each ended by a newline.
[[nodiscard]] Result<std::vector<Document>> readJsonLines(const std::filesystem::path& path, const std::string& field,
                                                          const PreparationWatch& watch = {});

/// A corpus as tokens, with what makes and reads them.
struct TokenisedText {
    TokenSequence tokens;
    std::unique_ptr<TextCodec> codec;
};
/// Bytes stay where they are; characters and SentencePiece are tokenised once. With SentencePiece the newline that
/// ends a document gives way to the model's end of text where it has one, and documents beyond 1 MiB are encoded in
/// parts cut at newlines. `place` is the corpus' path, for errors.
[[nodiscard]] Result<TokenisedText> tokenise(const std::vector<Document>& documents,
                                             const projects::Tokeniser& tokeniser,
                                             const std::filesystem::path& projectDirectory, const std::string& place,
                                             const PreparationWatch& watch = {});

/// The files a data path stands for: itself, or every file below the folder that ends in `extension`, sorted.
[[nodiscard]] Result<std::vector<std::filesystem::path>> filesAt(const std::filesystem::path& path,
                                                                 const std::string& extension);

} // namespace residua::engine
