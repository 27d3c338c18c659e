// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"

#include <QPointF>
#include <QString>
#include <QStringList>

#include <vector>

class QCPItemText;
class QCustomPlot;

namespace residua::visualizers {

struct ParetoRun;

/// Returns names that distinguish `runs`. If all are members of sweeps of one project, the project's name is omitted:
/// of one sweep, the labels; of several, whose labels may be equal, the sweep before the label.
[[nodiscard]] QStringList namesOf(const std::vector<ParetoRun>& runs);

/// Names beside points of a plot, on the side with more room and without overlaps. GUI thread.
class FrontNames {
public:
    struct Name {
        QPointF at; ///< on the plot's axes
        QString text;
    };

    explicit FrontNames(QCustomPlot& plot);

    /// Replaces the drawn names.
    void setNames(const std::vector<Name>& names, resources::Theme theme);

private:
    void spread();

    QCustomPlot& m_plot;
    std::vector<QCPItemText*> m_labels;
};

} // namespace residua::visualizers
