// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/plot_view.h"

#include <memory>

namespace residua::visualizers {

class ShownRuns;

/// The loss of the overlaid runs: training (raw, faint behind the smoothed curve), validation, and validation of the
/// parts that a step of the stage trains if these are not the whole network. Against step, tokens, FLOP or time, with
/// the stages as bands and a table of the transitions' effects. The accuracy beside it is a PlotView of its own. GUI
/// thread.
class LossView : public PlotView {
    Q_OBJECT
public:
    /// Follows `runs`, which must outlive the view.
    explicit LossView(ShownRuns& runs, QWidget* parent = nullptr);
    ~LossView() override;

    /// Shows the accuracy of runs that classify beside their losses, or hides it.
    void showAccuracy(bool shown);
    void setTheme(resources::Theme theme) override;
    [[nodiscard]] CsvText csvText() const override;

protected:
    [[nodiscard]] QCustomPlot& plot() const override;
    void resizeEvent(QResizeEvent* event) override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::visualizers
