// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>

namespace residua::engine {

/// Returns the path of one of the program's shared libraries or helper programs: the path in the variable
/// `environment`, or else the installed file beside the program, or else the file in `folder` of the build directory.
/// Empty if it is not found.
[[nodiscard]] std::filesystem::path findOwnLibrary(const std::string& file, const char* environment,
                                                   const std::string& folder);

} // namespace residua::engine
