// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QWidget;

namespace residua::app {

/// A value that is being typed in the window is entered as if its field were left: what is saved or trained has it.
void finishTyping(const QWidget& window);

} // namespace residua::app
