// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/plot_view.h"

#include <memory>

namespace residua::visualizers {

class ShownRuns;

/// Losses from each start of factored weights over each other: of the overlaid runs those that hold weights in factors,
/// each called after its start and drawn in its colour; those that differ in their seeds alone as a mean in a band. GUI
/// thread.
class StartLosses : public PlotView {
    Q_OBJECT
public:
    /// Follows `runs`, which it does not outlive.
    explicit StartLosses(const ShownRuns& runs, QWidget* parent = nullptr);
    ~StartLosses() override;

    [[nodiscard]] bool isEmpty() const;
    void setTheme(resources::Theme theme) override;
    [[nodiscard]] CsvText csvText() const override;

signals:
    /// The view has its first run, or has lost its last.
    void emptyChanged();

protected:
    [[nodiscard]] QCustomPlot& plot() const override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::visualizers
