// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <span>

namespace residua::app {

/// An arrangement of the panels for one kind of work. Its line in the table makes its action in the View menu and its
/// name after --view.
struct Layout {
    const char* name; ///< after --view
    const char* title;
    const char* toolTip;
    int digit;    ///< its key is Alt and this
    double below; ///< the share of the height that the panels below the canvases get
    bool left;    ///< whether the panels at the left are shown
    bool right;   ///< whether the panels at the right are shown
    /// The panel in front beside the curves, where the window is wide enough. Null if all panels below are one tab
    /// group.
    const char* beside;
    double besideShare; ///< of the width below the canvases that the panels beside the curves get

    /// Translated.
    [[nodiscard]] QString text() const;
    [[nodiscard]] QString tip() const;
};

/// The first one is the default.
[[nodiscard]] std::span<const Layout> layouts();

} // namespace residua::app
