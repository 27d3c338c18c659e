// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/file/store.h"

#include <QFileSystemWatcher>
#include <QObject>
#include <QStringList>

#include <filesystem>
#include <vector>

namespace residua::app {

/// The user's own blocks, for any project: a folder with one file per block. Unreadable files are listed as problems
/// and left alone. Changes of the folder by other windows or the user appear automatically. GUI thread.
class BlockLibrary : public QObject {
    Q_OBJECT
public:
    /// With an empty `folder` the library is empty and saves nothing.
    explicit BlockLibrary(std::filesystem::path folder, QObject* parent = nullptr);

    /// Returns the blocks, sorted by name.
    [[nodiscard]] const std::vector<projects::BlockFile>& blocks() const { return m_blocks; }
    /// Returns the unreadable files with the reasons: "mine.json: /block/graph …".
    [[nodiscard]] const QStringList& problems() const { return m_problems; }
    [[nodiscard]] bool holds(const std::string& name) const;
    /// Writes a block, replacing the one with the same name. Creates the folder.
    [[nodiscard]] Status save(const projects::BlockFile& file);

signals:
    void changed();

private:
    void reload();

    std::filesystem::path m_folder;
    std::vector<projects::BlockFile> m_blocks;
    QStringList m_problems;
    QFileSystemWatcher m_watcher;
};

} // namespace residua::app
