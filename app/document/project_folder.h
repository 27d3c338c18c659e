// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>

namespace residua::app {

/// A folder below `parent` for a project of this name that does not exist yet. Any thread.
[[nodiscard]] std::filesystem::path freeProjectFolder(const std::filesystem::path& parent, const std::string& name);

} // namespace residua::app
