// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"

#include <QPointF>
#include <QRectF>
#include <QString>

#include <vector>

class QCPItemText;
class QCustomPlot;

namespace residua::visualizers {

/// Names beside points of a plot, where they cover no point, no other name and, if possible, no line. GUI thread.
class FrontNames {
public:
    struct Name {
        QPointF at; ///< on the plot's axes
        QString text;
    };

    explicit FrontNames(QCustomPlot& plot);

    /// Replaces the drawn names; the first have the first choice of room. `points` and the polyline `line` are on the
    /// plot's axes.
    void setNames(const std::vector<Name>& names, std::vector<QPointF> points, std::vector<QPointF> line,
                  resources::Theme theme);

private:
    void spread();
    [[nodiscard]] bool meetsLine(const QRectF& room) const;
    [[nodiscard]] QPointF pixelOf(QPointF at) const;

    QCustomPlot& m_plot;
    std::vector<QPointF> m_points;
    std::vector<QPointF> m_line;
    std::vector<QCPItemText*> m_labels;
};

} // namespace residua::visualizers
