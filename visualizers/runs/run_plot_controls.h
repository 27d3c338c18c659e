// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/curve_plot.h"
#include "visualizers/runs/run_curves.h"

#include <QStringList>
#include <QWidget>

class QCheckBox;
class QComboBox;
class QSlider;

namespace residua::visualizers {

class ControlRows;

/// The choices above the curves of runs: the horizontal axis, the scales, the smoothing, and what is drawn beside the
/// curves where there is such a thing. GUI thread.
class RunPlotControls : public QWidget {
    Q_OBJECT
public:
    explicit RunPlotControls(QWidget* parent);

    [[nodiscard]] XAxis axis() const;
    /// The axis's name for people: "step", "seconds".
    [[nodiscard]] QString axisName() const;
    /// How many points an average takes in: 1 to about 1,000.
    [[nodiscard]] double window() const;
    [[nodiscard]] bool smooths() const;

    /// Whether theorems' bounds are to be drawn, where they are offered.
    [[nodiscard]] bool bounds() const;
    void offerBounds(bool offered);
    /// Sets the tooltip of the bounds' control, a line for each claim.
    void explainBounds(const QString& claims);
    /// Whether runs that differ in their seeds alone are to be drawn as one band.
    [[nodiscard]] bool seedsAsBand() const;
    void offerSeeds(bool offered);
    /// Offers the stages of these runs, and none of them, to be drawn. `shown` is an index, or the number of runs if no
    /// stages are drawn. Nothing is offered without runs.
    void offerStages(const QStringList& runs, int shown);

    /// Puts a control before all others; Tab goes from it through the others to `after`.
    void putFirst(QWidget* control, QWidget* after);

signals:
    void axisChosen(XAxis axis);
    void scaleChosen(AxisScale x, AxisScale y);
    void windowChosen(double points);
    /// Drawing of bounds or of bands was switched on or off.
    void partsChosen();
    /// The stages of a run, or of no run, were chosen as offerStages() counts.
    void stagesChosen(int index);

private:
    void layOut();
    void chooseScale(int index);

    ControlRows* m_row;
    QComboBox* m_axis;
    QComboBox* m_scale;
    QSlider* m_smoothing;
    QCheckBox* m_bounds;
    QCheckBox* m_seeds;
    QComboBox* m_stages;
};

} // namespace residua::visualizers
