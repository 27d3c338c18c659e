// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/environment.h"
#include "projects/base/result.h"

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

/// Returns the path of one of the program's shared libraries or helper programs: the path in the variable
/// `environment`, or else the installed file beside the program, or else the file in `folder` of the build directory.
/// Empty if it is not found.
[[nodiscard]] std::filesystem::path findOwnLibrary(const std::string& file, const char* environment,
                                                   const std::string& folder);

/// Own: a library's symbols are looked up in it and in what it is linked with first, for one that shares names with
/// LibTorch (not under sanitizers, whose own functions must come first). Program: in the program first.
enum class SymbolScope { Own, Program };
/// Opens a library, which is never closed. Returns its handle for dlsym(), or the loader's reason, without a place.
[[nodiscard]] Result<void*> openLibrary(const std::filesystem::path& library, SymbolScope scope);

} // namespace residua::engine
