// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

enum class PathUse { Data, Tokeniser };

/// A field of a project that names files: a file, or the files of a folder whose names end in one of `endings`.
struct DataPath {
    std::string* path = nullptr; ///< in the project; not empty
    std::span<const std::string_view> endings = {};
    PathUse use = PathUse::Data;
};

/// Every one, in the order of the data's fingerprint.
[[nodiscard]] std::vector<DataPath> dataPathsOf(projects::Project& project);

} // namespace residua::engine
