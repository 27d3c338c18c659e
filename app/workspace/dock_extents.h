// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>
#include <QSize>
#include <QVariant>

#include <optional>

namespace residua::app {

/// How much of a window the docks around its centre take.
struct DockExtents {
    int left = 300;      ///< width, pixels
    int right = 330;     ///< width, pixels
    double below = 0.36; ///< height, as a share of the window's

    bool operator==(const DockExtents&) const = default;
    /// The extents as the user's settings keep them.
    [[nodiscard]] QVariant toSetting() const;
    /// Reads them from a setting; nullopt where it holds none.
    [[nodiscard]] static std::optional<DockExtents> fromSetting(const QVariant& setting);
};

/// What docks that want `wanted` get in a window of this size: the centre keeps the largest part of it.
[[nodiscard]] DockExtents fitting(const DockExtents& wanted, QSize window);

/// Keeps the docks of a window at what a person gave them: in a small window they give way to the centre, and take it
/// back as the window grows, which the layout of QMainWindow does not do. GUI thread.
class DockKeeper {
public:
    explicit DockKeeper(QMainWindow& window) : m_window(window) {}

    [[nodiscard]] const DockExtents& wanted() const { return m_wanted; }
    /// Lays the docks out with these extents, as far as the window has room.
    void want(const DockExtents& wanted);
    /// Lays the docks out for the window's size as it is now.
    void apply();
    /// To be called where a border between docks may have been dragged: the extents that differ from those given are
    /// the wanted ones from now on.
    void noticeDrag();

private:
    [[nodiscard]] DockExtents present() const;

    QMainWindow& m_window;
    DockExtents m_wanted;
    DockExtents m_given; ///< as the layout made of it
};

} // namespace residua::app
