// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start/recent_projects.h"

#include "projects/file/store.h"

#include <QDir>
#include <QFileInfo>
#include <QSettings>

#include <algorithm>

namespace residua::app {

namespace {

constexpr int kMostRemembered = 12;
const QString kKey = QStringLiteral("start/recent");

} // namespace

QStringList recentProjects()
{
    QStringList folders = QSettings().value(kKey).toStringList();
    folders.removeIf(
        [](const QString& folder) { return !QFileInfo::exists(QDir(folder).filePath(projects::kProjectFile)); });
    return folders;
}

void rememberProject(const QString& folder)
{
    QStringList folders = QSettings().value(kKey).toStringList();
    folders.removeAll(folder);
    folders.prepend(folder);
    QSettings().setValue(kKey, folders.mid(0, kMostRemembered));
}

} // namespace residua::app
