// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workspace/layouts.h"

#include <QCoreApplication>
#include <QDockWidget>
#include <QStyle>

#include <algorithm>
#include <cmath>

namespace residua::app {
namespace {

constexpr const char* kLayoutContext = "Layouts";

constexpr Layout kLayouts[] = {
    {"design", QT_TRANSLATE_NOOP("Layouts", "La&yout: design"),
     QT_TRANSLATE_NOOP("Layouts", "Put every panel back in its place, with most room for the canvas"), 1, 0.36, true,
     true, nullptr, 0},
    {"train", QT_TRANSLATE_NOOP("Layouts", "Layout: t&rain"),
     QT_TRANSLATE_NOOP("Layouts",
                       "The loss beside the coefficients or a classifier's confusion, below the canvas; the inspector"),
     2, 0.52, false, true, "coefficients", 0.42},
    {"compare", QT_TRANSLATE_NOOP("Layouts", "Layout: c&ompare"),
     QT_TRANSLATE_NOOP("Layouts", "Most room for the runs and their losses, beside each other"), 3, 0.66, false, false,
     "runs", 0.5},
};

constexpr double kLeftShare = 0.26;
constexpr double kRightShare = 0.28;
constexpr int kLeastLeft = 160;
constexpr int kLeastRight = 250;
constexpr double kLargestBelow = 0.8;

/// Returns the docks in an area of the window, side by side or tabbed.
QList<QDockWidget*> docksIn(const QMainWindow& window, Qt::DockWidgetArea area)
{
    QList<QDockWidget*> docks;
    for (QDockWidget* dock : window.findChildren<QDockWidget*>(Qt::FindDirectChildrenOnly)) {
        if (!dock->isFloating() && !dock->isHidden() && window.dockWidgetArea(dock) == area &&
            !dock->geometry().isEmpty() && dock->x() >= 0) { // the layout places hidden tabs outside
            docks << dock;
        }
    }
    return docks;
}

QRect areaOf(const QList<QDockWidget*>& docks)
{
    QRect area;
    for (const QDockWidget* dock : docks) {
        area |= dock->geometry();
    }
    return area;
}

void give(QMainWindow& window, Qt::DockWidgetArea area, int extent, Qt::Orientation along)
{
    const QList<QDockWidget*> docks = docksIn(window, area);
    if (docks.isEmpty()) {
        return;
    }
    const auto extentOf = [along](QSize size) { return along == Qt::Horizontal ? size.width() : size.height(); };
    const int all = extentOf(areaOf(docks).size());
    if (extentOf(docks.front()->size()) == all) { // otherwise its docks share the extent
        window.resizeDocks({docks.front()}, {extent}, along);
    }
}

} // namespace

QString Layout::text() const
{
    return QCoreApplication::translate(kLayoutContext, title);
}

QString Layout::tip() const
{
    return QCoreApplication::translate(kLayoutContext, toolTip);
}

std::span<const Layout> layouts()
{
    return kLayouts;
}

QVariant DockExtents::toSetting() const
{
    return QVariantList{left, right, below};
}

std::optional<DockExtents> DockExtents::fromSetting(const QVariant& setting)
{
    const QVariantList parts = setting.toList();
    if (parts.size() != 3) {
        return std::nullopt;
    }
    const DockExtents read{parts[0].toInt(), parts[1].toInt(), parts[2].toDouble()};
    const bool usable = read.left > 0 && read.right > 0 && read.below > 0 && read.below < 1;
    return usable ? std::optional(read) : std::nullopt;
}

DockExtents fitting(const DockExtents& wanted, QSize window)
{
    const auto share = [&](double of) { return static_cast<int>(std::lround(of * window.width())); };
    return {std::min(wanted.left, std::max(share(kLeftShare), kLeastLeft)),
            std::min(wanted.right, std::max(share(kRightShare), kLeastRight)), std::min(wanted.below, kLargestBelow)};
}

void DockKeeper::want(const DockExtents& wanted)
{
    m_wanted = wanted;
    apply();
}

void DockKeeper::apply()
{
    const DockExtents extents = fitting(m_wanted, m_window.size());
    give(m_window, Qt::LeftDockWidgetArea, extents.left, Qt::Horizontal);
    give(m_window, Qt::RightDockWidgetArea, extents.right, Qt::Horizontal);
    give(m_window, Qt::BottomDockWidgetArea, static_cast<int>(std::lround(extents.below * m_window.height())),
         Qt::Vertical);
    m_given = present();
}

/// Returns the current extents of the areas. Measures the lower area, because a dock's height excludes the tabs.
DockExtents DockKeeper::present() const
{
    const int separator = m_window.style()->pixelMetric(QStyle::PM_DockWidgetSeparatorExtent, nullptr, &m_window);
    const int under = m_window.height() - m_window.centralWidget()->geometry().bottom() - 1 - separator;
    const bool any = !docksIn(m_window, Qt::BottomDockWidgetArea).isEmpty();
    return {areaOf(docksIn(m_window, Qt::LeftDockWidgetArea)).width(),
            areaOf(docksIn(m_window, Qt::RightDockWidgetArea)).width(),
            any ? under / static_cast<double>(std::max(m_window.height(), 1)) : 0};
}

void DockKeeper::noticeDrag()
{
    const DockExtents now = present();
    const auto take = [](auto& wanted, auto given, auto is) {
        if (is != given && is > 0) {
            wanted = is;
        }
    };
    take(m_wanted.left, m_given.left, now.left);
    take(m_wanted.right, m_given.right, now.right);
    take(m_wanted.below, m_given.below, now.below);
    m_given = now;
}

} // namespace residua::app
