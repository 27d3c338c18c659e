// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QIcon>
#include <QString>

namespace residua::app {

/// Returns an icon of resources/icons, drawn in the palette's text colour when it is painted, so that it follows a
/// change of theme. A valid `colour` replaces the palette's.
[[nodiscard]] QIcon themedIcon(const QString& name, const QColor& colour = {});

/// Returns the icon in `colour` as an image file, for style sheets, which accept only files. Kept until the program
/// ends.
[[nodiscard]] QString iconFile(const QString& name, const QColor& colour);

} // namespace residua::app
