// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QIcon>
#include <QString>

namespace residua::app {

/// An icon of resources/icons, drawn in the palette's text colour at the moment of painting: it follows a
/// change of theme by itself. `colour`, where valid, stands in place of the palette's.
[[nodiscard]] QIcon themedIcon(const QString& name, const QColor& colour = {});

/// The icon in `colour` as an image file (for style sheets, which take only files); kept for the program's life.
[[nodiscard]] QString iconFile(const QString& name, const QColor& colour);

} // namespace residua::app
