// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/curve_plot.h"
#include "visualizers/plot/plot_controls.h"
#include "visualizers/runs/run_curves.h"

#include <QCheckBox>
#include <QLabel>
#include <QSlider>
#include <QStringList>
#include <QWidget>

class QComboBox;

namespace residua::visualizers {

/// The choices above the curves of runs: the horizontal axis, the scales, the smoothing, and what is drawn beside the
/// curves where there is such a thing. GUI thread.
class RunPlotControls : public QWidget {
    Q_OBJECT
public:
    explicit RunPlotControls(QWidget* parent);

    [[nodiscard]] XAxis axis() const { return static_cast<XAxis>(m_axis->currentIndex()); }
    /// Returns the axis's name for people: "step", "seconds".
    [[nodiscard]] QString axisName() const;
    /// Offers the axis of environment steps. If it was chosen and is no longer offered, the axis is that of steps.
    void offerEnvironmentSteps(bool offered);
    /// Returns the number of points in an average: 1 to about 1,000.
    [[nodiscard]] double window() const;
    [[nodiscard]] bool smooths() const { return m_smoothing->value() > 0; }

    /// True if theorems' bounds are offered and to be drawn.
    [[nodiscard]] bool bounds() const { return m_bounds->isChecked(); }
    void offerBounds(bool offered) { m_bounds->setVisible(offered); }
    /// Sets the tooltip of the bounds' control, one line per claim.
    void explainBounds(const QString& claims);
    /// True if runs that differ only in their seeds are to be drawn as one band.
    [[nodiscard]] bool seedsAsBand() const { return m_seeds->isChecked(); }
    void offerSeeds(bool offered) { m_seeds->setVisible(offered); }
    /// Offers the stages of these runs, and "no stages". `shown` is an index, or the number of runs for no stages.
    /// Hides the choice if there are no runs.
    void offerStages(const QStringList& runs, int shown);

    /// Offers to show differences from these baselines, after the recorded numbers. `shown` is an index, or −1 for the
    /// numbers. Hides the choice if there are fewer than two.
    void offerBaselines(const QStringList& names, int shown);

    /// Puts a control before all others. Tab moves from it through the others to `after`.
    void putFirst(QWidget* control, QWidget* after);

signals:
    void axisChosen(XAxis axis);
    void scaleChosen(AxisScale x, AxisScale y);
    void windowChosen(double points);
    /// Emitted when the drawing of bounds or bands is switched on or off.
    void partsChosen();
    /// Emitted when a baseline is chosen, with the index of offerBaselines(); −1 for none.
    void baselineChosen(int index);
    /// Emitted when the stages of a run, or of no run, are chosen, with the index of offerStages().
    void stagesChosen(int index);

private:
    void layOut();
    void showPoints();
    void chooseScale(int index);

    ControlRows* m_row = new ControlRows(this);
    QComboBox* m_axis = new PlotChoice(this);
    QComboBox* m_scale = new PlotChoice(this);
    QSlider* m_smoothing = new QSlider(Qt::Horizontal, this);
    QLabel* m_points = new QLabel(this); ///< of the moving average
    QCheckBox* m_bounds = new QCheckBox(tr("bounds"), this);
    QCheckBox* m_seeds = new QCheckBox(tr("seeds as a band"), this);
    QComboBox* m_stages = new PlotChoice(this);
    QComboBox* m_baseline = new PlotChoice(this);
};

} // namespace residua::visualizers
