// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/measure_queries.h"
#include "visualizers/plot/plot_view.h"

#include <vector>

class QComboBox;

namespace residua::visualizers {

class CurvePlot;

/// The measures of a loop over its visits: one of them at a time, with a curve for the state or for each layer. GUI
/// thread.
class VisitsView : public PlotView {
    Q_OBJECT
public:
    explicit VisitsView(QWidget* parent = nullptr);

    /// Shows these curves. Keeps the chosen measure if they have it.
    void setCurves(std::vector<engine::VisitCurve> curves);
    void setTheme(resources::Theme theme) override;
    [[nodiscard]] CsvText csvText() const override;

protected:
    [[nodiscard]] QCustomPlot& plot() const override;

private:
    void draw();

    std::vector<engine::VisitCurve> m_curves;
    QComboBox* m_measure;
    CurvePlot* m_plot;
};

} // namespace residua::visualizers
