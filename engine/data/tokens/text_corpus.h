// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/preparation.h"
#include "engine/data/codec/text_codec.h"
#include "engine/data/text/text_files.h"
#include "engine/data/tokens/token_sequence.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace residua::engine {

/// Returns the codec for these texts. A codec of characters knows only their characters. Returns an error at `place` if
/// the project's vocabulary is too small for the codec.
[[nodiscard]] Result<std::unique_ptr<TextCodec>> codecFor(const std::vector<Document>& documents,
                                                          const projects::Tokeniser& tokeniser,
                                                          const std::filesystem::path& projectDirectory,
                                                          const std::string& place, const PreparationWatch& watch = {});

/// Returns the tokens of these texts, encoded by the codec of `tokeniser`. Byte tokens stay where they are; others are
/// computed once, on all cores. If the tokeniser has an end mark (and always with SentencePiece), it replaces a
/// document's final newline; its beginning marks precede each document. Documents beyond 1 MiB are encoded in the parts
/// from partsOf. `place` is the corpus' path, for errors. `ends`, if not null, gets the position
/// after the last token of each document.
[[nodiscard]] Result<TokenSequence> tokensOf(const std::vector<Document>& documents, const TextCodec& codec,
                                             const projects::Tokeniser& tokeniser,
                                             const std::filesystem::path& projectDirectory, const std::string& place,
                                             const PreparationWatch& watch = {},
                                             std::vector<std::int64_t>* ends = nullptr);

/// A part of a document that is encoded separately: all of it, or about 1 MiB.
struct TextPart {
    Document text;
    TextStart start = TextStart::Begins;
    bool ends = true; ///< true if the document ends with it
};

/// Returns the parts of all documents in order. Cuts a longer document after a newline or before a space, where
/// encoding the text on both sides shows that the cut changes no token. Without such a place nearby, the cut may change
/// tokens.
[[nodiscard]] Result<std::vector<TextPart>> partsOf(const std::vector<Document>& documents, const TextCodec& codec,
                                                    const PreparationWatch& watch);

/// Encodes the parts on all cores, with `marks` around each document, and returns the tokens in order, the same for any
/// number of threads. `place` is named in errors about text that cannot be encoded. `ends` as of tokensOf().
[[nodiscard]] Result<TokenSequence> encodeParts(const std::vector<TextPart>& parts, const TextCodec& codec,
                                                const DocumentMarks& marks, const std::string& place,
                                                const PreparationWatch& watch,
                                                std::vector<std::int64_t>* ends = nullptr);

} // namespace residua::engine
