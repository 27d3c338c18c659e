// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/environment.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace residua::engine {

struct MachineMemory {
    std::int64_t freeBytes = 0;
    std::int64_t totalBytes = 0; ///< 0: unknown
};
/// Returns the memory that this process can still allocate, given the kernel, the control group and the limit of its
/// address space. Any thread.
[[nodiscard]] MachineMemory machineMemory();

/// Returns the Python that runs exported code: RESIDUA_PYTHON, or else the one that packaging/python.sh has installed
/// in the user's cache, or else the system's.
[[nodiscard]] std::string pythonCommand();

/// A folder of files that can be computed again, shared by any number of processes.
struct UserCache {
    std::filesystem::path folder;                      ///< empty: nothing is cached
    std::uint64_t mostBytes = std::uint64_t{1} << 30U; ///< above it, the least recently used files are removed
    std::string fault = {};                            ///< an error in the setting; may be empty
};

/// Returns residua below XDG_CACHE_HOME, or below .cache in HOME; empty if neither is set.
[[nodiscard]] std::filesystem::path userCacheFolder();

/// Returns the folder `name` in the user's cache; its folder is empty if there is no cache or the limit is 0.
[[nodiscard]] UserCache userCache(const char* name, const CacheLimit& limit);

/// Removes files whose names have `ending`, least recently used first, until the rest has at most `mostBytes`. Ignores
/// files that cannot be removed, and all other files.
void trimCache(const std::filesystem::path& folder, const std::string& ending, std::uint64_t mostBytes);

} // namespace residua::engine
