// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <filesystem>
#include <string>

namespace residua::engine {

/// What a project is known by again in another folder or on another machine, whatever became of its document: 32
/// hexadecimal digits that were drawn once, in a file of their own.
inline constexpr const char* kIdentityFile = ".residua-identity";

/// The identity of the project in `directory`; empty where it has none, or a file that says something else.
[[nodiscard]] std::string identityOf(const std::filesystem::path& directory);
/// The same; drawn and kept where it has none. An error where it cannot be kept.
[[nodiscard]] Result<std::string> ensureIdentity(const std::filesystem::path& directory);

} // namespace residua::engine
