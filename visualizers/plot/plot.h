// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

namespace residua::visualizers {

class PlotLegend;

/// A plot that may have a legend (PlotLegend). Only the left button drags. It is not drawn while its area is empty, as
/// in a splitter before its first layout, because QCustomPlot would fail and write a message to the terminal. GUI
/// thread.
class Plot : public QCustomPlot {
    Q_OBJECT
public:
    using QCustomPlot::QCustomPlot;

    void setPlotLegend(PlotLegend* own) { m_legend = own; }
    /// Returns null if the plot has no legend.
    [[nodiscard]] PlotLegend* plotLegend() const { return m_legend; }

    /// True until a person zooms or moves the plot, while it shows everything.
    [[nodiscard]] bool isFollowing() const { return m_following; }
    void setFollowing(bool following) { m_following = following; }
    /// Has the plot show everything again.
    void showWhole();
    /// Shows these ranges, as if a person had zoomed to them.
    void zoomTo(const QCPRange& x, const QCPRange& y);

signals:
    /// Emitted by showWhole().
    void wholeWanted();
    /// Emitted when the pointer leaves the plot. Things shown under the pointer must be hidden.
    void pointerLeft();

protected:
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void updateLayout() override;

private:
    PlotLegend* m_legend = nullptr;
    bool m_following = true;
};

} // namespace residua::visualizers
