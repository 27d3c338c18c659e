// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <string>

namespace residua::editor {

/// Returns "3:7", followed by the names of the modules if these differ from the numbers: "3:7  (2a to 4a)".
[[nodiscard]] std::string titleOf(const projects::Project& project, const projects::Shortcut& shortcut);

} // namespace residua::editor
