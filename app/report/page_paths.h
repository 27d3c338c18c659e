// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <filesystem>
#include <string>

/// Removes paths of this machine from a page, because it may be shown to anybody.
namespace residua::report {

/// Returns the project with names instead of absolute paths of its data and tokeniser.
[[nodiscard]] projects::Project withoutPlaces(projects::Project project);
/// Returns the text with names instead of paths below `folder` and its parent folder.
[[nodiscard]] std::string withoutPlaces(std::string text, const std::filesystem::path& folder);

} // namespace residua::report
