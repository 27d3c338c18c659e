// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/codec/text_codec.h"
#include "engine/host/preparation.h"
#include "engine/text/text_files.h"
#include "engine/tokens/token_sequence.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace residua::engine {

/// The codec for these texts. A codec of characters knows only the characters in them. An error at `place` where the
/// project's vocabulary has too few rows for its tokens.
[[nodiscard]] Result<std::unique_ptr<TextCodec>> codecFor(const std::vector<Document>& documents,
                                                          const projects::Tokeniser& tokeniser,
                                                          const std::filesystem::path& projectDirectory,
                                                          const std::string& place, const PreparationWatch& watch = {});

/// The tokens of these texts, by the codec of `tokeniser`. Bytes stay where they are; other tokens are made once, on
/// all cores. Where a tokeniser has a mark that ends a document, the newline that does gives way to it (with
/// SentencePiece in any case), and what it puts before a text stands before each document. Documents beyond 1 MiB are
/// encoded in the parts of partsOf. `place` is the corpus' path, for errors.
[[nodiscard]] Result<TokenSequence> tokensOf(const std::vector<Document>& documents, const TextCodec& codec,
                                             const projects::Tokeniser& tokeniser,
                                             const std::filesystem::path& projectDirectory, const std::string& place,
                                             const PreparationWatch& watch = {});

} // namespace residua::engine
