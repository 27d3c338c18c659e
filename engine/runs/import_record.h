// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/files/safetensors.h"
#include "projects/base/result.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace residua::engine {

/// What a run whose first weights were imported keeps of where they came from: import.json, which its branches have
/// too. An export gives it back.
struct ImportRecord {
    std::string source;                      ///< the name of the folder
    std::string config;                      ///< its config.json, as it was
    StoredType type = StoredType::F32;       ///< of most of its tensors
    std::map<std::string, StoredType> types; ///< of those that have another
};
/// Nothing where the run has none. An error where it is damaged.
[[nodiscard]] Result<std::optional<ImportRecord>> readImport(const std::filesystem::path& runDirectory);
[[nodiscard]] Status writeImport(const std::filesystem::path& runDirectory, const ImportRecord& record);

} // namespace residua::engine
