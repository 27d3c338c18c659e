// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>
#include <QSize>
#include <QString>
#include <QVariant>

#include <optional>
#include <span>

namespace residua::app {

/// An arrangement of the panels for one kind of work. Its line in the table makes its action and its name after --view.
struct Layout {
    const char* name; ///< after --view
    const char* title;
    const char* toolTip;
    int digit;    ///< its key is Alt and this
    double below; ///< the share of the height that the panels below the canvases get
    bool left;    ///< whether the panels at the left are shown
    bool right;   ///< whether the panels at the right are shown
    /// The panel in front beside the curves, in a wide window. Null if all panels below are one tab group.
    const char* beside;
    double besideShare; ///< of the width below the canvases that the panels beside the curves get

    /// Translated.
    [[nodiscard]] QString text() const;
    [[nodiscard]] QString tip() const;
};

/// The first one is the default.
[[nodiscard]] std::span<const Layout> layouts();

/// The extents of the docks around a window's centre.
struct DockExtents {
    int left = 300;      ///< width, pixels
    int right = 330;     ///< width, pixels
    double below = 0.36; ///< height as a share of the window's

    bool operator==(const DockExtents&) const = default;
    /// Converts the extents for the user's settings.
    [[nodiscard]] QVariant toSetting() const;
    /// Reads them from a setting; nullopt if it is invalid.
    [[nodiscard]] static std::optional<DockExtents> fromSetting(const QVariant& setting);
};

/// Returns the extents of the docks in a window of this size. The centre keeps the largest part.
[[nodiscard]] DockExtents fitting(const DockExtents& wanted, QSize window);

/// Keeps the docks of a window at the sizes that the user has set. In a small window they shrink for the centre, and
/// grow again with the window, which the layout of QMainWindow does not do. GUI thread.
class DockKeeper {
public:
    explicit DockKeeper(QMainWindow& window) : m_window(window) {}

    [[nodiscard]] const DockExtents& wanted() const { return m_wanted; }
    /// Lays the docks out with these extents, as far as the window has room.
    void want(const DockExtents& wanted);
    /// Lays the docks out for the current size of the window.
    void apply();
    /// Must be called when a border between docks may have been dragged. Extents not set here become the wanted ones.
    void noticeDrag();

private:
    [[nodiscard]] DockExtents present() const;

    QMainWindow& m_window;
    DockExtents m_wanted;
    DockExtents m_given; ///< as set by the layout
};

} // namespace residua::app
