// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/block/block_library.h"

#include "projects/base/whole_file.h"

#include <QDir>
#include <QUrl>

#include <algorithm>

namespace residua::app {

namespace {

/// Returns a file name for a block, whose name may contain any characters.
std::string fileNameOf(const std::string& block)
{
    return QUrl::toPercentEncoding(QString::fromStdString(block), " ").toStdString() + ".json";
}

} // namespace

BlockLibrary::BlockLibrary(std::filesystem::path folder, QObject* parent) : QObject(parent), m_folder(std::move(folder))
{
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, [this] {
        reload();
        emit changed();
    });
    reload();
}

void BlockLibrary::reload()
{
    m_blocks.clear();
    m_problems.clear();
    if (m_folder.empty()) {
        return;
    }
    const QDir folder(QString::fromStdString(m_folder.string()));
    if (folder.exists() && m_watcher.directories().isEmpty()) {
        m_watcher.addPath(folder.path());
    }
    for (const QString& name : folder.entryList({QStringLiteral("*.json")}, QDir::Files, QDir::Name)) {
        const auto text = readFile(m_folder / name.toStdString());
        const auto file = text ? projects::blockFromJson(*text) : Result<projects::BlockFile>(text.error());
        if (!file) {
            m_problems << QStringLiteral("%1: %2").arg(name, QString::fromStdString(file.error().text()));
        } else if (file->block.name.empty()) {
            m_problems << tr("%1: the block has no name").arg(name);
        } else {
            m_blocks.push_back(*file);
        }
    }
    std::ranges::stable_sort(m_blocks, {}, [](const projects::BlockFile& file) { return file.block.name; });
}

bool BlockLibrary::holds(const std::string& name) const
{
    return std::ranges::any_of(m_blocks, [&](const projects::BlockFile& file) { return file.block.name == name; });
}

Status BlockLibrary::save(const projects::BlockFile& file)
{
    if (m_folder.empty()) {
        return Error{"library", "there is no folder for blocks of your own"};
    }
    std::error_code failed;
    std::filesystem::create_directories(m_folder, failed);
    if (failed) {
        return Error{m_folder.string(), failed.message()};
    }
    RESIDUA_TRY(writeFileAtomically(m_folder / fileNameOf(file.block.name), toJson(file)));
    reload();
    emit changed();
    return Done{};
}

} // namespace residua::app
