// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workspace/layouts.h"

#include <QCoreApplication>

namespace residua::app {

namespace {

constexpr const char* kLayoutContext = "Layouts";

constexpr Layout kLayouts[] = {
    {"design", QT_TRANSLATE_NOOP("Layouts", "La&yout: design"),
     QT_TRANSLATE_NOOP("Layouts", "Put every panel back in its place, with most room for the canvas"), 1, 0.36, true,
     true, nullptr, 0},
    {"train", QT_TRANSLATE_NOOP("Layouts", "Layout: t&rain"),
     QT_TRANSLATE_NOOP("Layouts", "The loss beside the coefficients, below the canvas; the inspector"), 2, 0.52, false,
     true, "coefficients", 0.42},
    {"compare", QT_TRANSLATE_NOOP("Layouts", "Layout: c&ompare"),
     QT_TRANSLATE_NOOP("Layouts", "Most room for the runs and their losses, beside each other"), 3, 0.66, false, false,
     "runs", 0.5},
};

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

} // namespace residua::app
