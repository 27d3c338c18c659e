// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"
#include "visualizers/plot/plot_view.h"

#include <QLabel>
#include <QWidget>

class QAction;

namespace residua::visualizers {

class DistancePlot;
class EffectsView;
class HeatmapControls;
class HeatmapGrid;
class ShownEffects;
class ShownMatrices;

/// Mixing coefficients of one port as a grid (rows are targets, columns are sources) with a step scrubber: their
/// values, their change since the start or a pinned step, their difference from another run, or ANCRe's logarithm.
/// Keys: arrows move from cell to cell, PageUp and PageDown from step to step, Home and End to the first and last,
/// Space plays, P pins. GUI thread.
class HeatmapView : public PlotView {
    Q_OBJECT
public:
    /// Follows `matrices`, which must outlive the view.
    explicit HeatmapView(ShownMatrices& matrices, QWidget* parent = nullptr);

    void setTheme(resources::Theme theme) override;
    /// Shows the effects beside the weights while there are any and the user has not hidden them. In a narrow view they
    /// take the place of the weights. `effects` must outlive the view.
    void showBeside(ShownEffects& effects);
    /// Adds a button for a command on the run in front.
    void addCommand(QAction* command);
    /// Leaves the choice of the contents to another widget.
    void hideControls();
    /// Outlines a cell that a canvas reports as hovered; row = target − 1. A negative row means none.
    void setHighlighted(int row, int column);
    [[nodiscard]] CsvText csvText() const override;

signals:
    void cellHovered(int row, int column); ///< −1, −1 when the pointer leaves

protected:
    [[nodiscard]] QCustomPlot& plot() const override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void layOut();
    void say();
    void draw();
    void placeEffects();
    [[nodiscard]] bool byDistance() const;

    ShownMatrices& m_matrices;
    QWidget* m_weights = new QWidget(this); ///< contains everything except the effects
    QLabel* m_whose = new QLabel(this);     ///< the run that the weights belong to
    HeatmapControls* m_controls;
    HeatmapGrid* m_grid;
    DistancePlot* m_distances; ///< shown instead of the grid on request
    EffectsView* m_beside = nullptr;
    const ShownEffects* m_effects = nullptr;
};

/// The confusion matrix of a classifier, by step. A type of its own, by which the workspace finds it. GUI thread.
class ConfusionView : public HeatmapView {
    Q_OBJECT
public:
    using HeatmapView::HeatmapView;
};

} // namespace residua::visualizers
