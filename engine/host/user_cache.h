// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/cache_limits.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace residua::engine {

/// A folder of files that can be made again, shared by any number of processes.
struct UserCache {
    std::filesystem::path folder;                      ///< empty: nothing is kept
    std::uint64_t mostBytes = std::uint64_t{1} << 30U; ///< above it, what has not been used for longest goes
    std::string fault = {};                            ///< what is wrong with the setting; may be empty
};

/// residua below XDG_CACHE_HOME, or below .cache in HOME; empty where there is neither.
[[nodiscard]] std::filesystem::path userCacheFolder();

/// The folder NAME in the user's; no folder where there is none, or where the limit is 0.
[[nodiscard]] UserCache userCache(const char* name, const CacheLimit& limit);

/// Removes files whose names have `ending`, those first that have not been used for longest, until the rest has at most
/// `mostBytes`. What cannot be removed stays, and other files are left alone.
void trimCache(const std::filesystem::path& folder, const std::string& ending, std::uint64_t mostBytes);

} // namespace residua::engine
