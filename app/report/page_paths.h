// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <filesystem>
#include <string>

/// A page may be shown to anybody: it tells no places of the machine that it was made on.
namespace residua::report {

/// Returns the project with names in the place of absolute paths of its data and tokeniser.
[[nodiscard]] projects::Project withoutPlaces(projects::Project project);
/// Returns the text with names in the place of paths below `folder` and the folder that holds it.
[[nodiscard]] std::string withoutPlaces(std::string text, const std::filesystem::path& folder);

} // namespace residua::report
