// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <filesystem>
#include <string>

namespace residua::engine {

/// What a new run of `project` in this folder is called: as the project; where that has runs there which differ from
/// it, with what differs, "Plain residual, GRN-v1"; and as one that does not differ.
/// For a run of no sweep. Reads the newest runs of that name. Blocking; any thread.
[[nodiscard]] std::string nameForRun(const std::filesystem::path& folder, const projects::Project& project);

} // namespace residua::engine
