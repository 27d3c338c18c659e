// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from engine_client.h, because reading runs needs no engine process.

#include "engine/base/api/values.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace residua::cli {

/// Returns the runs that the paths name, each once: a run, those of a folder, or those of a project. With `sweep`, only
/// those of the sweep of this name. Returns an error for a path without runs, and if none is left. Runs that cannot be
/// read are among them, with status Failed.
[[nodiscard]] Result<std::vector<engine::RunInfo>> namedRuns(std::span<const std::string> paths,
                                                             const std::string& sweep);

/// Returns the project of a run as the view of the tower of this name (projects::viewOf); empty: the first.
[[nodiscard]] Result<projects::Project> projectOfRun(const std::filesystem::path& run, const std::string& tower = {});

} // namespace residua::cli
