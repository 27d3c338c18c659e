// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit.h"
#include "projects/result.h"

#include <filesystem>
#include <string>

namespace residua::cli {

/// A project named on the command line: its directory, the project.json in it, or, where there is no such file, an
/// example's name; that one's directory is the current one.
struct NamedProject {
    projects::Document document;
    std::filesystem::path directory;
};
[[nodiscard]] Result<NamedProject> openProject(const std::string& path);

} // namespace residua::cli
