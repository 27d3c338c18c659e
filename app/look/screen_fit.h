// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>

class QDialog;
class QWidget;

namespace residua::app {

/// Gives a window that has not been shown its size: as wanted, and no larger than its screen has room for.
void resizeWithinScreen(QWidget& window, QSize wanted);

/// From then on the dialog is made higher, within its screen, where what it shows needs that: a layout alone does not
/// count the lines of texts that wrap, and squeezes all rows where one of them appears.
void growWithContent(QDialog& dialog);

} // namespace residua::app
