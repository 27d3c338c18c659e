// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>

namespace residua::engine {

/// Where a shared library of ours that is opened at run time lies, or a program that is started: where `environment`
/// says, or beside the program as it is installed, or as it is built, with the library in the build directory's
/// `folder`. Empty where it is nowhere.
[[nodiscard]] std::filesystem::path findOwnLibrary(const std::string& file, const char* environment,
                                                   const std::string& folder);

} // namespace residua::engine
