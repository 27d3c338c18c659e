// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"
#include "visualizers/plot/plot_view.h"

#include <QLabel>
#include <QString>
#include <QToolButton>

class QAction;
class QComboBox;

namespace residua::visualizers {

class ControlRows;
class EffectsPlot;
class HeatmapGrid;
class ShownEffects;
class ShownMatrices;

/// The effects of a knock-out: of shortcuts as a grid with the rows and columns of the shown weights, or against the
/// size of their weights with Spearman's rank correlation in the title; of other parts as bars with their standard
/// errors. GUI thread.
class EffectsView : public PlotView {
    Q_OBJECT
public:
    /// Follows both, which must outlive the view.
    EffectsView(ShownEffects& effects, const ShownMatrices& matrices, QWidget* parent = nullptr);

    /// Adds a button for a command.
    void addCommand(QAction* command);
    void setTheme(resources::Theme theme) override;
    /// Shows a button that brings the weights back if `alone`: they are hidden then.
    void setAlone(bool alone);
    /// Outlines a cell that another view reports as hovered; row = target − 1. A negative row means none.
    void setHighlighted(int row, int column);
    [[nodiscard]] CsvText csvText() const override;

signals:
    void cellHovered(int row, int column); ///< −1, −1 when the pointer leaves
    void hideRequested();

protected:
    [[nodiscard]] QCustomPlot& plot() const override;

private:
    void layOut();
    void draw();
    void fillResults();
    void drawGrid();
    void pointCell(int row, int column);
    void pointRow(int row);
    [[nodiscard]] bool ofShortcuts() const;
    [[nodiscard]] bool asGrid() const;
    [[nodiscard]] QString title() const;

    ShownEffects& m_effects;
    const ShownMatrices& m_matrices;
    QLabel* m_title = new QLabel(this);
    QComboBox* m_result;
    QComboBox* m_picture;
    ControlRows* m_controls;
    HeatmapGrid* m_grid;
    EffectsPlot* m_points;
    QToolButton* m_hide = new QToolButton(this);
};

} // namespace residua::visualizers
