// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QLineF>
#include <QPointF>
#include <QRectF>
#include <QString>

#include <cstddef>
#include <vector>

class QCPItemText;
class QCustomPlot;

namespace residua::visualizers {

/// Names beside points of a plot, where they cover no point, no other name and as few lines as possible. GUI thread.
class FrontNames {
public:
    struct Name {
        QPointF at; ///< on the plot's axes
        QString text;
        QColor ink;
        double reach = 0; ///< above and below the point, on the plot's axis: of its bar
    };

    explicit FrontNames(QCustomPlot& plot);

    /// Replaces the drawn names; the first have the first choice of room. `points` and `lines`, which are horizontal or
    /// vertical, are on the plot's axes.
    void setNames(const std::vector<Name>& names, std::vector<QPointF> points, std::vector<QLineF> lines);

private:
    void spread();
    /// Returns the number of lines that go through the room.
    [[nodiscard]] std::ptrdiff_t linesIn(const QRectF& room) const;
    /// Returns the places that the text of a name may have, the best first.
    [[nodiscard]] std::vector<QRectF> placesOf(const Name& name) const;
    [[nodiscard]] QPointF pixelOf(QPointF at) const;

    QCustomPlot& m_plot;
    std::vector<QPointF> m_points;
    std::vector<QLineF> m_lines;
    std::vector<Name> m_names;
    std::vector<QCPItemText*> m_labels; ///< of each name
};

} // namespace residua::visualizers
