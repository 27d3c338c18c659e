// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <filesystem>
#include <string>

namespace residua::engine {

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
