// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// A field of a project that names a file, or the files of a folder with one of `endings`.
struct DataPath {
    std::string* path = nullptr; ///< in the project; not empty
    std::span<const std::string_view> endings = {};
    const projects::Tokeniser* tokeniser = nullptr; ///< the tokeniser whose model the path is; null for data
};

/// Returns all such fields, in the order of the data's fingerprint.
[[nodiscard]] std::vector<DataPath> dataPathsOf(projects::Project& project);

/// Returns the files behind a field, by their names in the project: the field itself, and for a tokeniser each file
/// that is read beside its model. In the order of the fingerprint.
[[nodiscard]] std::vector<std::string> namesOf(const DataPath& path, const std::filesystem::path& projectDirectory);

/// Returns the path in its normal form, without a trailing slash.
[[nodiscard]] std::filesystem::path withoutSlash(const std::filesystem::path& path);

/// Returns `path` relative to `folder`: "." for the folder itself, nullopt if `path` is not below it. Compares names
/// only; does not follow links.
[[nodiscard]] std::optional<std::filesystem::path> placeWithin(const std::filesystem::path& folder,
                                                               const std::filesystem::path& path);

} // namespace residua::engine
