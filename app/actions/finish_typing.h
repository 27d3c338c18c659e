// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QWidget;

namespace residua::app {

/// Enters a value that is being typed in the window, as if its field lost the focus, so that it is saved or trained.
void finishTyping(const QWidget& window);

} // namespace residua::app
