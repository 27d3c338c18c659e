// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScreen>
#include <QWidget>

namespace residua::app {

/// Gives a window that has not been shown its size: as wanted, and no larger than its screen has room for.
inline void resizeWithinScreen(QWidget& window, QSize wanted)
{
    constexpr QSize kFrame(16, 48); // that the system may draw around the window
    window.resize(wanted.boundedTo(window.screen()->availableSize() - kFrame));
}

} // namespace residua::app
