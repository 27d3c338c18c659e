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

/// A stretch of a document that is encoded by itself: all of it, or about 1 MiB.
struct TextPart {
    Document text;
    TextStart start = TextStart::Begins;
    bool ends = true; ///< whether the document ends with it
};

/// The parts of all documents in order. A longer document is cut after a newline or before a space where the tokens of
/// the text on both sides show that the cut changes none; where there is no such place nearby, where the
/// cut may change some.
[[nodiscard]] Result<std::vector<TextPart>> partsOf(const std::vector<Document>& documents, const TextCodec& codec,
                                                    const PreparationWatch& watch);

/// Encodes the parts on all cores, with `marks` around each document, and appends the tokens in order: the same ones
/// whatever the number of threads. `place` is where what cannot be encoded stands.
[[nodiscard]] Result<TokenSequence> encodeParts(const std::vector<TextPart>& parts, const TextCodec& codec,
                                                const DocumentMarks& marks, const std::string& place,
                                                const PreparationWatch& watch);

} // namespace residua::engine
