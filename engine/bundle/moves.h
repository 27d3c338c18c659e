// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <filesystem>
#include <utility>
#include <vector>

namespace residua::engine {

/// Puts `from`, a file or a folder, at `to`, where nothing is and whose folder exists; to another disk it is copied.
[[nodiscard]] Status putAt(const std::filesystem::path& from, const std::filesystem::path& to);

/// Folders that were made for what goes into them. Those that are still empty go again with the value, unless they are
/// kept.
class MadeFolders {
public:
    MadeFolders() = default;
    MadeFolders(const MadeFolders&) = delete;
    MadeFolders& operator=(const MadeFolders&) = delete;
    ~MadeFolders();

    /// Makes the folder and those above it that are not there.
    [[nodiscard]] Status make(const std::filesystem::path& folder);
    void keep() { m_made.clear(); }

private:
    std::vector<std::filesystem::path> m_made;
};

/// Moves files, folders and runs, all or none: what was moved goes back with the value, unless it is kept.
class Moves {
public:
    Moves() = default;
    Moves(const Moves&) = delete;
    Moves& operator=(const Moves&) = delete;
    ~Moves();

    /// As putAt(), and makes the folder.
    [[nodiscard]] Status move(const std::filesystem::path& from, const std::filesystem::path& to);
    /// Moves a run into the trash beside it, and tells its place there.
    [[nodiscard]] Result<std::filesystem::path> trash(const std::filesystem::path& run);
    void keep();

private:
    MadeFolders m_folders;
    std::vector<std::pair<std::filesystem::path, std::filesystem::path>> m_done; ///< from where to where
    std::vector<std::filesystem::path> m_trashed;
};

} // namespace residua::engine
