// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/preparation.h"
#include "projects/base/result.h"

#include <filesystem>
#include <string>

namespace residua::engine {

inline constexpr const char* kDigestCacheVariable = "RESIDUA_DIGESTS_MIB";

/// A hash of every byte of a plain file, in 16 hexadecimal digits. It is kept in residua/digests of the user's caches,
/// by what tells a file from one that was changed: its place, size, times of change, and number on its disk; so a large
/// file is read once, and again after it was written to. Any thread; `watch` may give it up.
[[nodiscard]] Result<std::string> digestOfFile(const std::filesystem::path& path, const PreparationWatch& watch);

} // namespace residua::engine
