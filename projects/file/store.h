// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/edit/edit.h"
#include "projects/model/project.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace residua::projects {

/// A project on disk: a directory with project.json, layout.json and its runs in runs/.
inline constexpr const char* kProjectFile = "project.json";
inline constexpr const char* kLayoutFile = "layout.json";
inline constexpr const char* kRunsFolder = "runs";
inline constexpr const char* kJournalFile = ".autosave.json";

/// Loads `path` (the directory, or its project.json). A missing layout is empty.
[[nodiscard]] Result<Document> loadProject(const std::filesystem::path& path);
/// Writes both files atomically (temporary file, fsync, rename), and creates the directory. Keeps the journal:
/// readJournal() ignores one that equals the saved document. Removes temporary files that a killed process has left.
[[nodiscard]] Status saveProject(const std::filesystem::path& directory, const Document& document);

/// Writes the journal, which is the unsaved state, atomically.
[[nodiscard]] Status writeJournal(const std::filesystem::path& directory, const Document& document);
/// Returns the journal's document if there is one and it differs from the saved document.
[[nodiscard]] Result<std::optional<Document>> readJournal(const std::filesystem::path& directory);
[[nodiscard]] Status removeJournal(const std::filesystem::path& directory);

/// A single block with its node positions: an entry of a personal library, or nodes on the clipboard.
struct BlockFile {
    Block block;
    std::map<NodeId, Position> positions;

    bool operator==(const BlockFile&) const = default;
};

/// Formats the block by the rules of json.h.
[[nodiscard]] std::string toJson(const BlockFile& file);
/// Parses a block. Errors are as in projectFromJson().
[[nodiscard]] Result<BlockFile> blockFromJson(std::string_view text);

} // namespace residua::projects
