// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/document/document_session.h"

#include "projects/base/free_name.h"

#include <QString>

namespace residua::app {

namespace {

/// Returns a folder name in which characters that are special to file systems and shells are dashes.
std::string folderName(const std::string& name)
{
    QString folder = QString::fromStdString(name).simplified();
    for (QChar& c : folder) {
        if (!c.isLetterOrNumber() && c != QLatin1Char('-') && c != QLatin1Char('_') && c != QLatin1Char('.')) {
            c = QLatin1Char('-');
        }
    }
    while (folder.startsWith(QLatin1Char('.'))) {
        folder.remove(0, 1);
    }
    return folder.isEmpty() ? "project" : folder.toStdString();
}

} // namespace

std::filesystem::path freeProjectFolder(const std::filesystem::path& parent, const std::string& name)
{
    return freePath(parent / folderName(name));
}

} // namespace residua::app
