// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/preparation.h"
#include "engine/data/text_codec.h"
#include "engine/data/text_files.h"
#include "engine/data/token_sequence.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace residua::engine {

/// A corpus as tokens, with what makes and reads them.
struct TokenisedText {
    TokenSequence tokens;
    std::unique_ptr<TextCodec> codec;
};
/// Bytes stay where they are; characters and SentencePiece are tokenised once. With SentencePiece the newline that
/// ends a document gives way to the model's end of text where it has one, and documents beyond 1 MiB are encoded in
/// the parts of forEachPart. `place` is the corpus' path, for errors.
[[nodiscard]] Result<TokenisedText> tokenise(const std::vector<Document>& documents,
                                             const projects::Tokeniser& tokeniser,
                                             const std::filesystem::path& projectDirectory, const std::string& place,
                                             const PreparationWatch& watch = {});

} // namespace residua::engine
