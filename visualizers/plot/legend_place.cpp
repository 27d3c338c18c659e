// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/legend_place.h"

#include "visualizers/plot/plot_style.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace residua::visualizers {
namespace {

constexpr double kClear = 4;        ///< pixels between a line and the legend
constexpr double kMostHeight = 0.4; ///< of the axes' height that the legend may take
constexpr double kMostWidth = 0.8;  ///< of their width, where names stand beside each other
constexpr int kGap = 6;             ///< pixels between two names
constexpr int kSign = 50;           ///< pixels of a curve's sign beside its name

/// Whether the piece of a line from `a` to `b` runs through the rectangle; `a` is not to the right of `b`.
bool crosses(const QRectF& rect, QPointF a, QPointF b)
{
    const double left = std::max(a.x(), rect.left());
    const double right = std::min(b.x(), rect.right());
    if (left > right) {
        return false;
    }
    const auto at = [&](double x) {
        return b.x() > a.x() ? a.y() + (b.y() - a.y()) * (x - a.x()) / (b.x() - a.x()) : a.y();
    };
    const auto [top, bottom] = b.x() > a.x() ? std::minmax({at(left), at(right)}) : std::minmax({a.y(), b.y()});
    return top <= rect.bottom() && bottom >= rect.top();
}

bool covers(const QRectF& rect, const QCustomPlot& plot)
{
    for (int i = 0; i < plot.graphCount(); ++i) {
        const QCPGraph& graph = *plot.graph(i);
        const bool line = graph.lineStyle() != QCPGraph::lsNone;
        QPointF before;
        bool any = false;
        for (const QCPGraphData& point : *graph.data()) {
            if (std::isnan(point.value)) {
                any = false;
                continue;
            }
            const QPointF at(plot.xAxis->coordToPixel(point.key), plot.yAxis->coordToPixel(point.value));
            if (crosses(rect, line && any ? before : at, at)) {
                return true;
            }
            before = at;
            any = true;
        }
    }
    return false;
}

} // namespace

void arrangeLegend(QCustomPlot& plot, int names, int longest)
{
    const int row = plot.fontMetrics().height() + kGap;
    const QSize axes(std::max(plot.width() - kAxesRoom.width(), 0), std::max(plot.height() - kAxesRoom.height(), 0));
    const int rows = static_cast<int>(axes.height() * kMostHeight) / row;
    const int columns = rows > 0 ? (names + rows - 1) / rows : 0;
    plot.legend->setWrap(columns > 1 ? (names + columns - 1) / columns : 0);
    plot.legend->setFillOrder(QCPLegend::foRowsFirst); // which places them anew
    plot.legend->setVisible(columns == 1 || (columns > 1 && columns * (longest + kSign) <= axes.width() * kMostWidth));
}

void keepLegendClear(QCustomPlot& plot)
{
    if (!plot.legend->visible()) {
        return;
    }
    QCPLayoutInset& inset = *plot.axisRect()->insetLayout();
    const QRectF room = inset.rect();
    const QSizeF size = plot.legend->outerRect().size();
    const auto covered = [&](Qt::Alignment corner) {
        QRectF rect(room.topLeft(), size);
        if (corner & Qt::AlignRight) {
            rect.moveRight(room.right());
        }
        if (corner & Qt::AlignBottom) {
            rect.moveBottom(room.bottom());
        }
        return covers(rect.adjusted(-kClear, -kClear, kClear, kClear), plot);
    };
    if (!covered(inset.insetAlignment(0))) {
        return;
    }
    for (const Qt::Alignment corner : {Qt::AlignTop | Qt::AlignRight, Qt::AlignBottom | Qt::AlignLeft,
                                       Qt::AlignBottom | Qt::AlignRight, Qt::AlignTop | Qt::AlignLeft}) {
        if (!covered(corner)) {
            inset.setInsetAlignment(0, corner);
            replotSoon(plot); // it has been laid out at the other
            return;
        }
    }
}

} // namespace residua::visualizers
