// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"
#include "resources/curve.h"
#include "visualizers/plot/plot.h"

#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace residua::visualizers {

using resources::Curve;

enum class AxisScale { Linear, Logarithmic, SymmetricLogarithmic };

/// A plot of curves that are sampled anew at each drawing: in four points a pixel column at most, however long they
/// are. Drag zooms, the wheel too, a double click or Home shows everything again; NaN and infinity are marks at the
/// edge where they belong. GUI thread.
class CurvePlot : public Plot {
    Q_OBJECT
public:
    enum class Id : int {};
    struct Look {
        QString name = {};    ///< in the legend; empty: not there
        QString run = {};     ///< whose numbers it holds: those of one run share a line beside the crosshair
        QString reading = {}; ///< what they are; empty: not beside the crosshair
        resources::Rgb colour = {};
        double alpha = 1;
        double width = 1;
        Qt::PenStyle line = Qt::SolidLine;
        bool marks = false;            ///< a dot at each point
        bool fits = true;              ///< the axes are fitted to it, and it counts as something to show
        std::optional<Id> fillTo = {}; ///< no line, but the area between this curve and that one
        bool operator==(const Look&) const = default;
    };

    explicit CurvePlot(QWidget* parent);

    /// `curve` must stay where it is until it is removed.
    Id add(const Curve& curve, const Look& look);
    void setLook(Id id, const Look& look);
    void remove(Id id);
    /// The curves have changed: shows all of them, unless a person has zoomed.
    void refresh();
    /// Shows everything again.
    void showAll();
    void setScaleX(AxisScale scale); ///< never symmetric
    void setScaleY(AxisScale scale);
    void setTheme(resources::Theme theme);
    /// Sets how an x is written beside the crosshair.
    void setXText(std::function<QString(double)> text) { m_xText = std::move(text); }
    /// A stretch of the horizontal axis, from its start to the next one's, with its name along the top. Every other one
    /// is shaded.
    struct Band {
        double from = 0;
        QString name;
    };
    void setBands(std::vector<Band> bands);
    /// A sentence at the lower left of the figure, in every picture of it; empty: none.
    void setNote(const QString& note);
    [[nodiscard]] bool isEmpty() const;

protected:
    void mouseMoveEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Shown {
        const Curve* curve = nullptr;
        Look look;
        QCPGraph* line = nullptr;
        QCPGraph* broken = nullptr;
    };

    void style(Shown& shown) const;
    void resample();
    void fitAxes();
    void setFullRange(Curve::Range x, Curve::Range y);
    void drawBands();
    void fitLegend();
    void wrapNote();
    void crosshair(QPointF position);
    [[nodiscard]] QStringList readingsAt(double x) const;
    void hideCrosshair();
    [[nodiscard]] std::vector<double> edges(int columns) const;
    [[nodiscard]] double toAxis(double y) const;

    std::map<Id, Shown> m_curves;
    int m_next = 0;
    resources::Theme m_theme = resources::Theme::Light;
    AxisScale m_scaleY = AxisScale::Linear;
    double m_linearReach = 1e-3; ///< a symmetric logarithm is linear up to here
    bool m_following = true;     ///< everything is shown until a person zooms
    std::function<QString(double)> m_xText;
    std::vector<Band> m_bands;
    std::vector<QCPAbstractItem*> m_bandItems;
    QString m_note;
    QCPItemText* m_noteItem;
    QCPItemStraightLine* m_cursor;
    QCPItemText* m_values;
};

} // namespace residua::visualizers
