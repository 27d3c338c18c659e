// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/token_sequence.h"
#include "projects/data_source.h"
#include "projects/result.h"

#include <filesystem>

namespace residua::engine {

/// Appends the tokens of a .bin file, or of every *.bin below a folder, mapped. Files of llm.c (256 int32 of header:
/// magic 20240520 version 1 for uint16 of GPT-2, magic 20240801 version 7 for uint32 of Llama 3) say their own width
/// and length; others are bare tokens, as nanoGPT writes them, of `width`: by default uint16, or uint32 where the
/// vocabulary needs it. Every token is checked against `vocabulary`.
[[nodiscard]] Status appendTokenFiles(TokenSequence& tokens, const std::filesystem::path& path,
                                      projects::TokenWidth width, std::int64_t vocabulary);

} // namespace residua::engine
