// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>

class QDialog;
class QWidget;

namespace residua::app {

/// Sets the size of a window that has not been shown: as wanted, but no larger than its screen.
void resizeWithinScreen(QWidget& window, QSize wanted);

/// From now on makes the dialog higher, within its screen, if its contents need that. A layout alone ignores the height
/// of wrapped texts, and would squeeze all rows when one of them appears.
void growWithContent(QDialog& dialog);

} // namespace residua::app
