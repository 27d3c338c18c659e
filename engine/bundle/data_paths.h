// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// A field of a project that names files: a file, or the files of a folder whose names end in one of `endings`.
struct DataPath {
    std::string* path = nullptr; ///< in the project; not empty
    std::span<const std::string_view> endings = {};
    const projects::Tokeniser* tokeniser = nullptr; ///< whose model it is; null for data
};

/// Every one, in the order of the data's fingerprint.
[[nodiscard]] std::vector<DataPath> dataPathsOf(projects::Project& project);

/// What such a field stands for by the name that the project has for it: the field itself; of a tokeniser also each
/// file that is read beside its model. In the order of the fingerprint.
[[nodiscard]] std::vector<std::string> namesOf(const DataPath& path, const std::filesystem::path& projectDirectory);

} // namespace residua::engine
