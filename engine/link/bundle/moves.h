// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <filesystem>
#include <utility>
#include <vector>

namespace residua::engine {

/// Moves a file or folder to `to`, which must not exist, in an existing folder. Copies between disks.
[[nodiscard]] Status putAt(const std::filesystem::path& from, const std::filesystem::path& to);

/// Folders created for other files. The destructor removes those that are still empty, unless keep() was called.
class MadeFolders {
public:
    MadeFolders() = default;
    MadeFolders(const MadeFolders&) = delete;
    MadeFolders& operator=(const MadeFolders&) = delete;
    ~MadeFolders();

    /// Creates the folder and its missing parents.
    [[nodiscard]] Status make(const std::filesystem::path& folder);
    void keep() { m_made.clear(); }

private:
    std::vector<std::filesystem::path> m_made;
};

/// Moves files, folders and runs, all or none: the destructor undoes the moves unless keep() was called.
class Moves {
public:
    Moves() = default;
    Moves(const Moves&) = delete;
    Moves& operator=(const Moves&) = delete;
    ~Moves();

    /// Moves as putAt() does, and creates the target's folder.
    [[nodiscard]] Status move(const std::filesystem::path& from, const std::filesystem::path& to);
    /// Moves a run into the trash beside it and returns its new place.
    [[nodiscard]] Result<std::filesystem::path> trash(const std::filesystem::path& run);
    void keep();

private:
    MadeFolders m_folders;
    std::vector<std::pair<std::filesystem::path, std::filesystem::path>> m_done; ///< source and target
    std::vector<std::filesystem::path> m_trashed;
};

} // namespace residua::engine
