// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

namespace residua::app {

/// Folders of projects that were opened or saved, newest first; kept in the user's settings. Those that are
/// gone are left out.
[[nodiscard]] QStringList recentProjects();
void rememberProject(const QString& folder);

} // namespace residua::app
