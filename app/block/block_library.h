// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/file/block_file.h"

#include <QFileSystemWatcher>
#include <QObject>
#include <QStringList>

#include <filesystem>
#include <vector>

namespace residua::app {

/// The user's own blocks, for any project: a folder with one file a block. Files that cannot be read are named and
/// left alone. What another window or a person puts there shows up by itself. GUI thread.
class BlockLibrary : public QObject {
    Q_OBJECT
public:
    /// An empty `folder` holds nothing and takes nothing.
    explicit BlockLibrary(std::filesystem::path folder, QObject* parent = nullptr);

    /// The blocks, by name.
    [[nodiscard]] const std::vector<projects::BlockFile>& blocks() const { return m_blocks; }
    /// "mine.json: /block/graph …": what could not be read, and why.
    [[nodiscard]] const QStringList& problems() const { return m_problems; }
    [[nodiscard]] bool holds(const std::string& name) const;
    /// Writes a block, in place of the one of that name. Makes the folder.
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
