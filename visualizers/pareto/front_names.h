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

/// What tells each of `runs` from the others. Where all are members of sweeps of one project its name says nothing: of
/// one sweep, their labels; of several, which may have equal labels, the sweep before the label.
[[nodiscard]] QStringList namesOf(const std::vector<ParetoRun>& runs);

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
