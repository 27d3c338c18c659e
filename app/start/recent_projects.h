// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

namespace residua::app {

/// Returns the folders of projects that were opened or saved, newest first, from the user's settings. Skips folders
/// that no longer exist.
[[nodiscard]] QStringList recentProjects();
void rememberProject(const QString& folder);

} // namespace residua::app
