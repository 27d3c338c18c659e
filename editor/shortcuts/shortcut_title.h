// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <string>

namespace residua::editor {

/// "3:7", and where those numbers are not the names of layers what they join: "3:7  (2a to 4a)".
[[nodiscard]] std::string titleOf(const projects::Project& project, const projects::Shortcut& shortcut);

} // namespace residua::editor
