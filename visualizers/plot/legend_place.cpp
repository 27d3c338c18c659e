// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/legend_place.h"

#include "visualizers/plot/plot_style.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace residua::visualizers {
namespace {

constexpr double kClear = 4; ///< pixels between a line and the legend

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
