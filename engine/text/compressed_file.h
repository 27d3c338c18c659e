// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/preparation.h"
#include "engine/text/byte_source.h"
#include "engine/text/text_memory.h"
#include "projects/base/result.h"

#include <filesystem>

namespace residua::engine {

/// Whether its name ends in .gz or .zst.
[[nodiscard]] bool isCompressed(const std::filesystem::path& path);
/// What is compressed in such a file, in memory. An error where it is cut off, damaged, not compressed as its name
/// says, or more than `memory` has left.
[[nodiscard]] Result<Bytes> decompressed(const std::filesystem::path& path, const PreparationWatch& watch,
                                         const TextMemory& memory = TextMemory());

} // namespace residua::engine
