// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/edit/edit.h"

#include <filesystem>
#include <optional>
#include <string_view>

namespace residua::projects {

/// A project on disk: a directory with project.json and layout.json; runs/ holds its runs.
inline constexpr const char* kProjectFile = "project.json";
inline constexpr const char* kLayoutFile = "layout.json";
inline constexpr const char* kRunsFolder = "runs";
inline constexpr const char* kJournalFile = ".autosave.json";

/// Loads `path` (the directory, or its project.json). A missing layout is an empty one.
[[nodiscard]] Result<Document> loadProject(const std::filesystem::path& path);
/// Writes both files, each by temp + fsync + rename, and makes the directory. The journal is left: where it says the
/// same, there is none to read. What a process that was killed left half written beside them is removed.
[[nodiscard]] Status saveProject(const std::filesystem::path& directory, const Document& document);

/// The journal: the unsaved state, replaced atomically.
[[nodiscard]] Status writeJournal(const std::filesystem::path& directory, const Document& document);
/// The journal's document where there is one that differs from what is saved.
[[nodiscard]] Result<std::optional<Document>> readJournal(const std::filesystem::path& directory);
[[nodiscard]] Status removeJournal(const std::filesystem::path& directory);

} // namespace residua::projects
