// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <filesystem>
#include <string>

namespace residua::engine {

/// The file with a project's identity: 32 random hexadecimal digits, drawn once. They identify the project in another
/// folder or on another machine, even if its document has changed.
inline constexpr const char* kIdentityFile = ".residua-identity";

/// Returns the identity of the project in `directory`; empty if it has none or the file is malformed.
[[nodiscard]] std::string identityOf(const std::filesystem::path& directory);
/// Returns the identity of the project in `directory`; draws and stores one if it has none. Returns an error if it
/// cannot be stored.
[[nodiscard]] Result<std::string> ensureIdentity(const std::filesystem::path& directory);

} // namespace residua::engine
