// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/plot.h"
#include "visualizers/plot/plot_legend.h"

#include <QStringList>

namespace residua::visualizers {

/// The texts of a plot's legend, in its order.
inline QStringList legendOf(const QWidget& view)
{
    QStringList texts;
    const auto* plot = qobject_cast<const Plot*>(&view);
    for (const PlotLegend::Entry& entry : (plot ? plot : view.findChild<Plot*>())->plotLegend()->entries()) {
        texts << entry.text;
    }
    return texts;
}

} // namespace residua::visualizers
