// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>

namespace residua::app {

/// Returns a free folder below `parent` for a project of this name. Any thread.
[[nodiscard]] std::filesystem::path freeProjectFolder(const std::filesystem::path& parent, const std::string& name);

} // namespace residua::app
