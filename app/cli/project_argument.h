// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit.h"
#include "projects/result.h"

#include <filesystem>
#include <string>

namespace residua::cli {

/// A project named on the command line: its directory, or the project.json in it.
struct NamedProject {
    projects::Document document;
    std::filesystem::path directory;
};
[[nodiscard]] Result<NamedProject> openProject(const std::string& path);

} // namespace residua::cli
