// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/codec/text_codec.h"
#include "engine/host/preparation.h"
#include "engine/host/user_cache.h"
#include "engine/text/text_files.h"
#include "engine/tokens/token_sequence.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// Tokens of texts that were tokenised before, in the user's cache, one file for each content. They are read where they
/// lie, so that they need not fit in memory.

/// residua/tokens: see userCache().
[[nodiscard]] UserCache userTokenCache();

/// What is wrong with its setting, where the tokens of such a tokeniser are kept: a sentence, or none.
[[nodiscard]] std::vector<std::string> tokenCacheFaults(projects::TokeniserKind kind);

/// The name of the file for these documents: of a digest of all that their tokens depend on, which is every byte of the
/// documents and of the tokeniser's file (`model`), and the marks around them.
[[nodiscard]] Result<std::string> tokenFileName(const std::vector<Document>& documents, projects::TokeniserKind kind,
                                                const std::filesystem::path& model, const DocumentMarks& marks,
                                                const PreparationWatch& watch);

/// The tokens that the file holds; nullopt where there is none, or it is damaged.
[[nodiscard]] std::optional<TokenSequence> keptTokens(const std::filesystem::path& file, const PreparationWatch& watch);
/// Makes the folder where it is not there; the file is complete or absent. What was written first goes where the cache
/// has grown too large.
[[nodiscard]] Status keepTokens(const UserCache& cache, const std::string& name, const TokenSequence& tokens,
                                std::int64_t vocabulary);

} // namespace residua::engine
