// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDir>
#include <QFileInfo>
#include <QString>

namespace residua::tests {

/// The Python that exported networks are compared with: what RESIDUA_PYTHON names, what packaging/python.sh installs,
/// or the system's.
[[nodiscard]] inline QString pythonCommand()
{
    if (const QString named = qEnvironmentVariable("RESIDUA_PYTHON"); !named.isEmpty()) {
        return named;
    }
    const QString caches = qEnvironmentVariable("XDG_CACHE_HOME", QDir::homePath() + "/.cache");
    const QString installed = caches + "/residua/python/bin/python3";
    return QFileInfo(installed).isExecutable() ? installed : "python3";
}

} // namespace residua::tests
