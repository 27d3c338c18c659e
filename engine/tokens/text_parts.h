// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/codec/text_codec.h"
#include "engine/host/preparation.h"
#include "engine/text/text_files.h"
#include "engine/tokens/token_sequence.h"
#include "projects/base/result.h"

#include <functional>
#include <vector>

namespace residua::engine {

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
/// number of threads. `place` is named in errors about text that cannot be encoded.
[[nodiscard]] Result<TokenSequence> encodeParts(const std::vector<TextPart>& parts, const TextCodec& codec,
                                                const DocumentMarks& marks, const std::string& place,
                                                const PreparationWatch& watch);

} // namespace residua::engine
