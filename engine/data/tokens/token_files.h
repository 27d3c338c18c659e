// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/reading.h"
#include "engine/base/machine/preparation.h"
#include "engine/data/tokens/token_sequence.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace residua::engine {

/// The tokens of files, with notes for the user about how they were read.
struct TokenFiles {
    TokenSequence tokens;
    std::vector<std::string> notes;
};

/// Appends the tokens of a .bin file, or of every *.bin below a folder, without copying them into memory. Files of
/// llm.c define their own width and length in a header of 256 int32 (magic 20240520 version 1 for uint16 of GPT-2,
/// magic 20240801 version 7 for uint32 of Llama 3), NumPy's in theirs (numpy.save of uint16, uint32 or int32; the first
/// reading takes that header for tokens). Others are bare tokens, as written by nanoGPT, of `width`, or if
/// that is to be detected, of the width from tokenWidthOf. Every token is checked against `vocabulary`.
[[nodiscard]] Status appendTokenFiles(TokenFiles& files, const std::filesystem::path& path, projects::TokenWidth width,
                                      std::int64_t vocabulary, const PreparationWatch& watch = {},
                                      ReadingVersion reading = kNewestReading);

[[nodiscard]] std::string toString(TokenSize size);

/// The width of a file's bare tokens.
struct TokenWidthFound {
    TokenSize size = TokenSize::Two;
    std::string note; ///< for the user, without the file's name; empty if there is no doubt
};

/// Returns the width of a file's bare tokens: the project's or, if it is to be detected, one that follows from the
/// file's size and up to 256 KiB of samples from all of the file:
/// - For vocabularies up to 65536: uint16, or uint32 if every second 16-bit word is zero but not every word.
/// - For larger ones: uint32, or uint16 if most tokens would be beyond the vocabulary as uint32.
/// Returns an error for content that looks like 64-bit tokens. Adds a note if the content decided, or if it contradicts
/// the width.
[[nodiscard]] Result<TokenWidthFound> tokenWidthOf(const Bytes& file, projects::TokenWidth said,
                                                   std::int64_t vocabulary, const std::string& place);

} // namespace residua::engine
