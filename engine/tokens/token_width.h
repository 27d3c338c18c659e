// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokens/token_sequence.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <cstdint>
#include <string>

namespace residua::engine {

[[nodiscard]] std::string toString(TokenSize size);

/// How a file of bare tokens is read.
struct TokenWidthFound {
    TokenSize size = TokenSize::Two;
    std::string note; ///< what a person should know, without the file; empty where nothing is in doubt
};

/// The width of a file's bare tokens: what the project says; to be detected, what up to 256 KiB of samples from all of
/// the file, and its size, allow:
/// - vocabularies up to 65536: uint16; uint32 where every second 16-bit word is zero and not every word;
/// - larger ones: uint32; uint16 where most tokens would be beyond the vocabulary as uint32.
/// What looks like 64-bit tokens is an error. A choice by content is noted, and so is content that speaks against the
/// width.
[[nodiscard]] Result<TokenWidthFound> tokenWidthOf(const Bytes& file, projects::TokenWidth said,
                                                   std::int64_t vocabulary, const std::string& place);

} // namespace residua::engine
