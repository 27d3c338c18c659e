// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <filesystem>
#include <string>

namespace residua::engine {

/// Reads a SentencePiece model file of at most 256 MiB and checks that its normalisation tables stay within bounds. The
/// library does not check the ends of these tables.
[[nodiscard]] Result<std::string> readSentencePieceModel(const std::filesystem::path& path);

} // namespace residua::engine
