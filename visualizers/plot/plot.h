// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

namespace residua::visualizers {

class PlotLegend;

/// A plot with a legend of its own (PlotLegend), if one was put into it. Only the left button drags. It is not drawn
/// while it has no area, as in a splitter before its first layout: QCustomPlot would fail to and write so to the
/// terminal. GUI thread.
class Plot : public QCustomPlot {
    Q_OBJECT
public:
    using QCustomPlot::QCustomPlot;

    void setPlotLegend(PlotLegend* own) { m_legend = own; }
    /// Null if there is none.
    [[nodiscard]] PlotLegend* plotLegend() const { return m_legend; }

signals:
    /// The pointer is no longer over the plot. What was shown under it must go.
    void pointerLeft();

protected:
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void updateLayout() override;

private:
    PlotLegend* m_legend = nullptr;
};

} // namespace residua::visualizers
