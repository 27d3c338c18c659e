// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"
#include "resources/curve.h"
#include "visualizers/plot/band_marks.h"
#include "visualizers/plot/curve_look.h"
#include "visualizers/plot/plot.h"
#include "visualizers/plot/plot_legend.h"
#include "visualizers/plot/plot_note.h"

#include <functional>
#include <map>
#include <set>
#include <vector>

namespace residua::visualizers {

class ReadingTable;

using resources::Curve;

enum class AxisScale { Linear, Logarithmic, SymmetricLogarithmic };

/// A plot of curves that are sampled anew at each drawing, with at most four points per pixel column. Dragging and the
/// wheel zoom; a double click or Home shows everything again. NaN and infinity are marks at the corresponding edge. The
/// legend has an entry for each group of curves, by its colour. If groups have several numbers, it also has an entry
/// for each number, by its stroke. A click on an entry hides its curves or shows them again; hovering an entry makes
/// all others faint. GUI thread.
class CurvePlot : public Plot {
    Q_OBJECT
public:
    using Id = CurveId;
    using Look = CurveLook;

    explicit CurvePlot(QWidget* parent);

    /// `curve` must stay valid and at its address until it is removed.
    Id add(const Curve& curve, const Look& look);
    void setLook(Id id, const Look& look);
    void remove(Id id);
    /// Curves of groups that this is true of are not drawn, and have no entry in the legend.
    void leaveOutIf(std::function<bool(const QString& group)> isLeftOut) { m_isLeftOut = std::move(isLeftOut); }
    /// Other curves are left out now.
    void restyle();
    /// The curves have changed: shows all of them, unless a person has zoomed.
    void refresh();
    /// Shows everything again.
    void showAll();
    void setScaleX(AxisScale scale); ///< never symmetric
    void setScaleY(AxisScale scale);
    void setTheme(resources::Theme theme);
    /// Sets the format of x beside the crosshair.
    void setXText(std::function<QString(double)> text) { m_xText = std::move(text); }
    using Band = BandMarks::Band;
    /// `title` names the bands in the legend; empty: they are not in it.
    void setBands(std::vector<Band> bands, const QString& title = {});
    /// Shows a sentence at the lower left of the figure, also in exported pictures; empty: none.
    void setNote(const QString& note) { m_note.setText(note); }
    [[nodiscard]] bool isEmpty() const;

protected:
    void mouseMoveEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Shown {
        const Curve* curve = nullptr;
        Look look;
        QCPGraph* line = nullptr;
        QCPGraph* broken = nullptr;
    };

    void style(Shown& shown) const;
    void styleAll();
    void resample();
    void fitAxes();
    void setFullRange(Curve::Range x, Curve::Range y);
    void fillLegend();
    void toggle(const QString& key);
    void crosshair(QPointF position);
    void readAt(double x);
    void hideCrosshair();
    [[nodiscard]] bool isHidden(const Look& look) const;
    [[nodiscard]] double strengthOf(const Look& look) const;
    [[nodiscard]] std::vector<double> edges(int columns) const;
    [[nodiscard]] double toAxis(double y) const;

    std::map<Id, Shown> m_curves;
    int m_next = 0;
    resources::Theme m_theme = resources::Theme::Light;
    AxisScale m_scaleY = AxisScale::Linear;
    double m_linearReach = 1e-3; ///< a symmetric logarithm is linear up to here
    bool m_following = true;     ///< everything is shown until the user zooms
    std::function<QString(double)> m_xText;
    BandMarks m_bands;
    QString m_bandTitle;
    PlotLegend* m_legend;
    std::set<QString> m_hidden; ///< keys of the legend
    std::function<bool(const QString&)> m_isLeftOut = [](const QString&) { return false; };
    PlotNote m_note;
    QCPItemStraightLine* m_cursor;
    ReadingTable* m_readings;
};

} // namespace residua::visualizers
