// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <filesystem>
#include <string>

namespace residua::engine {

/// The bytes of a SentencePiece model file of at most 256 MiB, in which nothing points outside of it. The library
/// checks less: its normalisation tables are followed without a look at their ends.
[[nodiscard]] Result<std::string> readSentencePieceModel(const std::filesystem::path& path);

} // namespace residua::engine
