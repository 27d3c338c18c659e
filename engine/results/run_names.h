// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <filesystem>
#include <string>

namespace residua::engine {

/// Returns the name of a new run of `project` in this folder, outside a sweep. It is the project's name ("mine"),
/// followed by its wiring if that is not a preset ("mine, custom from ANCRe, ingoing, 3 pruned"). If the project is
/// named after a preset, its wiring's name is used instead ("No shortcuts + 1:4"). If a different run in the folder has
/// this name, the difference from the oldest such run follows ("mine, width 64 features"). Reads the newest runs and
/// the oldest. Blocking; any thread.
[[nodiscard]] std::string nameForRun(const std::filesystem::path& folder, const projects::Project& project);

} // namespace residua::engine
