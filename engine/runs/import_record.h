// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/files/safetensors.h"
#include "projects/base/result.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace residua::engine {

/// The record of a run whose first weights were imported: import.json, which its branches have too. An export restores
/// these settings.
struct ImportRecord {
    std::string source;                      ///< the name of the folder
    std::string config;                      ///< its unchanged config.json
    StoredType type = StoredType::F32;       ///< of most of its tensors
    std::map<std::string, StoredType> types; ///< of tensors with another type
};
/// Reads import.json; nullopt if the run has none. Returns an error if it is damaged.
[[nodiscard]] Result<std::optional<ImportRecord>> readImport(const std::filesystem::path& runDirectory);
[[nodiscard]] Status writeImport(const std::filesystem::path& runDirectory, const ImportRecord& record);

} // namespace residua::engine
