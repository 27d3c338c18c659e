// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/byte_source.h"
#include "engine/data/preparation.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>

namespace residua::engine {

/// Whether its name ends in .gz or .zst.
[[nodiscard]] bool isCompressed(const std::filesystem::path& path);
/// The bytes that may be decompressed now: half of the memory that is free, for text is copied while it grows.
[[nodiscard]] std::uint64_t mostDecompressed();
/// What is compressed in such a file, in memory. An error where it is cut off, damaged, not compressed as its name
/// says, or more than `most` bytes.
[[nodiscard]] Result<Bytes> decompressed(const std::filesystem::path& path, const PreparationWatch& watch,
                                         std::uint64_t most = mostDecompressed());

} // namespace residua::engine
