// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The view alone: tabs do not see how it is drawn.

#include "projects/studies/sweep_results.h"
#include "resources/colours.h"
#include "visualizers/plot/plot_view.h"

#include <memory>
#include <vector>

namespace residua::visualizers {

/// The finished members of a sweep as parallel coordinates: a vertical axis for each varied field with the share of the
/// variance that it explains, one for the result, and a line for each member, the stronger the better. Hovering shows a
/// member's values. GUI thread.
class ParallelView : public PlotView {
    Q_OBJECT
public:
    explicit ParallelView(QWidget* parent = nullptr);
    ~ParallelView() override;

    /// Shows the members with a result. Their values are labels of the sweep's axes.
    void setResults(const projects::Sweep& sweep, const std::vector<projects::SweepResult>& results,
                    const projects::Judge& judge);
    void setTheme(resources::Theme theme) override;
    [[nodiscard]] CsvText csvText() const override;

protected:
    [[nodiscard]] QCustomPlot& plot() const override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::visualizers
