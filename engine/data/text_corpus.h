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
/// Bytes stay where they are; other tokens are made once, on all cores. Where a tokeniser has a mark that ends a
/// document, the newline that does gives way to it (with SentencePiece in any case), and what it puts before a text
/// stands before each document. Documents beyond 1 MiB are encoded in the parts of partsOf. `place` is the corpus'
/// path, for errors.
[[nodiscard]] Result<TokenisedText> tokenise(const std::vector<Document>& documents,
                                             const projects::Tokeniser& tokeniser,
                                             const std::filesystem::path& projectDirectory, const std::string& place,
                                             const PreparationWatch& watch = {});

} // namespace residua::engine
