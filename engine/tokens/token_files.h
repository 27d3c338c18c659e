// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/preparation.h"
#include "engine/tokens/token_sequence.h"
#include "projects/base/result.h"
#include "projects/model/data_endings.h"
#include "projects/model/data_source.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// The tokens of files, with notes for the user about how they were read.
struct TokenFiles {
    TokenSequence tokens;
    std::vector<std::string> notes;
};

/// Appends the tokens of a .bin file, or of every *.bin below a folder, without copying them into memory. Files of
/// llm.c define their own width and length in a header of 256 int32 (magic 20240520 version 1 for uint16 of GPT-2,
/// magic 20240801 version 7 for uint32 of Llama 3). Others are bare tokens, as written by nanoGPT, of `width`, or if
/// that is to be detected, of the width from tokenWidthOf. Every token is checked against `vocabulary`.
[[nodiscard]] Status appendTokenFiles(TokenFiles& files, const std::filesystem::path& path, projects::TokenWidth width,
                                      std::int64_t vocabulary, const PreparationWatch& watch = {});

} // namespace residua::engine
