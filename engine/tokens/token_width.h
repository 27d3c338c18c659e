// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokens/token_sequence.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <cstdint>
#include <string>

namespace residua::engine {

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
