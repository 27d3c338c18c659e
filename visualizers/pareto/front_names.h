// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"

#include <QPointF>
#include <QString>

#include <vector>

class QCPItemText;
class QCustomPlot;

namespace residua::visualizers {

/// Names beside points of a plot: on the side that has more room, and none over another. GUI thread.
class FrontNames {
public:
    struct Name {
        QPointF at; ///< on the plot's axes
        QString text;
    };

    explicit FrontNames(QCustomPlot& plot);

    /// Draws these names in place of what was drawn.
    void setNames(const std::vector<Name>& names, resources::Theme theme);

private:
    void spread();

    QCustomPlot& m_plot;
    std::vector<QCPItemText*> m_labels;
};

} // namespace residua::visualizers
