// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"
#include "resources/plot.h"
#include "visualizers/plot/plot.h"
#include "visualizers/plot/plot_legend.h"
#include "visualizers/plot/plot_marks.h"

#include <functional>
#include <set>
#include <vector>

namespace residua::visualizers {

class ReadingTable;

using resources::AxisScale;
using resources::Curve;
using resources::PlotCurve;
using resources::PlotSpec;
using resources::Stroke;

/// A plot of curves that are sampled anew at each drawing, with at most four points per pixel column. Dragging and the
/// wheel zoom; a double click or Home shows everything again. NaN and infinity are marks at the corresponding edge. The
/// legend has an entry for each group of curves, by its colour. If groups have several numbers, it also has an entry
/// for each number, by its stroke. A click on an entry hides its curves or shows them again; hovering an entry makes
/// all others faint. GUI thread.
class CurvePlot : public Plot {
    Q_OBJECT
public:
    explicit CurvePlot(QWidget* parent);

    /// Shows these curves, axes and bands instead of those before. Its live curves must stay valid until the next call;
    /// refresh() tells that they have changed.
    void setSpec(PlotSpec spec);
    /// Curves of groups that this is true of are not drawn, and have no entry in the legend.
    void leaveOutIf(std::function<bool(const std::string& group)> isLeftOut) { m_isLeftOut = std::move(isLeftOut); }
    /// Returns the keys of the entries of the legend whose curves are hidden: "group KEY", "number TITLE".
    [[nodiscard]] const std::set<QString>& hidden() const { return m_hidden; }
    /// Hides the curves of these entries, also if they are added later, and shows all others.
    void hide(std::set<QString> keys);
    /// The curves have changed: shows all of them, unless a person has zoomed.
    void refresh();
    /// Shows everything again.
    void showAll();
    void setTheme(resources::Theme theme);
    /// Sets the format of x beside the crosshair.
    void setXText(std::function<QString(double)> text) { m_xText = std::move(text); }
    [[nodiscard]] bool isEmpty() const;

protected:
    void mouseMoveEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Graphs {
        QCPGraph* line = nullptr;
        QCPGraph* broken = nullptr;
    };

    void makeGraphs();
    void setScales();
    void style(const PlotCurve& curve, const Graphs& graphs) const;
    void styleAll();
    void restyle();
    void resample();
    void fitAxes();
    void setFullRange(Curve::Range x, Curve::Range y);
    void fillLegend();
    void updateHidden();
    void toggle(const QString& key);
    void crosshair(QPointF position);
    void readAt(double x);
    void hideCrosshair();
    [[nodiscard]] bool isHidden(const PlotCurve& curve) const;
    [[nodiscard]] double strengthOf(const PlotCurve& curve) const;
    [[nodiscard]] std::vector<double> edges(int columns) const;
    [[nodiscard]] double toAxis(double y) const;

    PlotSpec m_spec;
    std::vector<Graphs> m_graphs; ///< of the curves
    resources::Theme m_theme = resources::Theme::Light;
    double m_linearReach = 1e-3; ///< a symmetric logarithm is linear up to here
    std::function<QString(double)> m_xText;
    BandMarks m_bands;
    PlotLegend* m_legend;
    std::set<QString> m_hidden; ///< keys of the legend
    std::set<QString> m_toHide; ///< of entries that have no curves yet
    std::function<bool(const std::string&)> m_isLeftOut = [](const std::string&) { return false; };
    PlotNote m_note;
    QCPItemStraightLine* m_cursor;
    ReadingTable* m_readings;
};

} // namespace residua::visualizers
