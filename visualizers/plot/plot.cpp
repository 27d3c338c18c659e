// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/plot.h"

#include "visualizers/plot/plot_legend.h"

namespace residua::visualizers {

/// Ignores other buttons. Their release goes to the menu that they open, and QCustomPlot would wait for it.
void Plot::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton) {
        QCustomPlot::mousePressEvent(event);
    } else {
        event->ignore();
    }
}

void Plot::showWhole()
{
    m_following = true;
    emit wholeWanted();
}

void Plot::zoomTo(const QCPRange& x, const QCPRange& y)
{
    m_following = false;
    xAxis->setRange(x);
    yAxis->setRange(y);
    replot(QCustomPlot::rpQueuedReplot);
}

void Plot::leaveEvent(QEvent* event)
{
    QCustomPlot::leaveEvent(event);
    emit pointerLeft();
}

void Plot::resizeEvent(QResizeEvent* event)
{
    if (!event->size().isEmpty()) {
        QCustomPlot::resizeEvent(event);
    }
}

void Plot::updateLayout()
{
    if (m_legend) {
        m_legend->arrange();
    }
    QCustomPlot::updateLayout();
    if (m_legend && m_legend->settle()) {
        QCustomPlot::updateLayout();
    }
}

} // namespace residua::visualizers
