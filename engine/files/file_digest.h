// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/preparation.h"
#include "projects/base/result.h"

#include <filesystem>
#include <optional>
#include <string>

namespace residua::engine {

/// A hash of every byte of a plain file, in 16 hexadecimal digits. It is kept in residua/digests of the user's caches,
/// by what tells a file from one that was changed: its place, size, times of change, and number on its disk; so a large
/// file is read once, and again after it was written to. Any thread; `watch` may give it up.
[[nodiscard]] Result<std::string> digestOfFile(const std::filesystem::path& path, const PreparationWatch& watch);
/// The same where it is kept already: the file is not read.
[[nodiscard]] std::optional<std::string> knownDigestOfFile(const std::filesystem::path& path);
/// Removes what was used longest ago of the digests that are more than the cache may hold (kDigestCache). To be called
/// once after those of many files.
void trimDigests();

} // namespace residua::engine
