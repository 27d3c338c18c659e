// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The view alone: panels do not see how its curves are chosen.

#include "visualizers/plot/plot_view.h"

#include <memory>

namespace residua::visualizers {

class ShownRuns;

/// Another recorded number of the overlaid runs, one at a time: gradient norm, learning rate, throughput, memory, the
/// layers' magnitudes (a curve each), further quantities of the objective. Against step, tokens, FLOP or time,
/// optionally smoothed, with the stages as bands. GUI thread.
class MetricsView : public PlotView {
    Q_OBJECT
public:
    /// Follows `runs`, which must outlive the view.
    explicit MetricsView(ShownRuns& runs, QWidget* parent = nullptr);
    ~MetricsView() override;

    void setTheme(resources::Theme theme) override;
    [[nodiscard]] CsvText csvText() const override;

protected:
    [[nodiscard]] QCustomPlot& plot() const override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::visualizers
