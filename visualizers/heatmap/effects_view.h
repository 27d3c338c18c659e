// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/events.h"
#include "resources/colours.h"
#include "visualizers/plot/plot_view.h"

#include <QString>

class QComboBox;
class QLabel;

namespace residua::visualizers {

class CurvePlot;
class HeatmapGrid;

/// The effects of a knock-out: of shortcuts as a grid with the axes of their weights, or against the weights with
/// Spearman's rank correlation in the title; of other parts as points with their standard errors. GUI thread.
class EffectsView : public PlotView {
    Q_OBJECT
public:
    explicit EffectsView(QWidget* parent = nullptr);

    /// Shows a measurement; `of` names its run and mode. Shows nothing if it has no rows.
    void setEffects(const engine::KnockoutReady& measured, const QString& of);

    void setTheme(resources::Theme theme) override;
    [[nodiscard]] CsvText csvText() const override;

protected:
    [[nodiscard]] QCustomPlot& plot() const override;

private:
    [[nodiscard]] bool ofShortcuts() const;
    [[nodiscard]] bool asGrid() const;
    void draw();
    void drawGrid();
    void drawAgainstWeights();
    void drawByPart();

    engine::KnockoutReady m_measured;
    QString m_of;
    QLabel* m_title;
    QLabel* m_readout;
    QComboBox* m_picture;
    HeatmapGrid* m_grid;
    CurvePlot* m_points;
};

} // namespace residua::visualizers
