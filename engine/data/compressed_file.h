// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/byte_source.h"
#include "engine/data/preparation.h"
#include "projects/base/result.h"

#include <filesystem>

namespace residua::engine {

/// Whether its name ends in .gz or .zst.
[[nodiscard]] bool isCompressed(const std::filesystem::path& path);
/// What is compressed in such a file, in memory. An error where it is cut off, damaged, or not compressed as its name
/// says.
[[nodiscard]] Result<Bytes> decompressed(const std::filesystem::path& path, const PreparationWatch& watch);

} // namespace residua::engine
