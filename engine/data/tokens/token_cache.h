// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/machine.h"
#include "engine/base/machine/preparation.h"
#include "engine/data/codec/text_codec.h"
#include "engine/data/text/text_files.h"
#include "engine/data/tokens/token_sequence.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// The tokens of texts that were tokenised earlier, in the user's cache, with one file per content. They are read from
/// the file on request, so they may be larger than memory.

/// Returns the cache residua/tokens: see userCache().
[[nodiscard]] UserCache userTokenCache();

/// Returns the error in the cache's setting if tokens of such a tokeniser are cached: one sentence, or an empty list.
[[nodiscard]] std::vector<std::string> tokenCacheFaults(projects::TokeniserKind kind);

/// Returns the file name for these documents: a digest of everything that their tokens depend on. These are every byte
/// of the documents and of the tokeniser's file (`model`), and the marks.
[[nodiscard]] Result<std::string> tokenFileName(const std::vector<Document>& documents, projects::TokeniserKind kind,
                                                const std::filesystem::path& model, const DocumentMarks& marks,
                                                const PreparationWatch& watch);

/// Returns the tokens in the file; nullopt if it does not exist or is damaged.
[[nodiscard]] std::optional<TokenSequence> keptTokens(const std::filesystem::path& file, const PreparationWatch& watch);
/// Writes the tokens; the file is complete or absent. Creates the folder if needed. If the cache exceeds its limit,
/// removes the oldest files.
[[nodiscard]] Status keepTokens(const UserCache& cache, const std::string& name, const TokenSequence& tokens,
                                std::int64_t vocabulary);

} // namespace residua::engine
