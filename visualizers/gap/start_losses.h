// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/plot_view.h"
#include "visualizers/runs/shown_runs.h"

#include <string>

namespace residua::visualizers {

class RunPlot;

/// The losses of the overlaid runs with factored weights. Each run is named after the start of its factors and drawn in
/// the start's colour. Runs that differ only in their seeds are shown as a mean in a band. GUI thread.
class StartLosses : public PlotView {
    Q_OBJECT
public:
    /// Follows `runs`, which must outlive the view.
    explicit StartLosses(const ShownRuns& runs, QWidget* parent = nullptr);
    ~StartLosses() override;

    [[nodiscard]] bool isEmpty() const { return m_starts.runs().empty(); }
    void setTheme(resources::Theme theme) override;
    [[nodiscard]] CsvText csvText() const override;

signals:
    /// Emitted when the view gets its first run or loses its last.
    void emptyChanged();

protected:
    [[nodiscard]] QCustomPlot& plot() const override;

private:
    void begin(const std::string& key);
    void remove(const std::string& key);

    const ShownRuns& m_all;
    ShownRuns m_starts; ///< the runs of `m_all` that are shown here
    RunPlot* m_curves;
};

} // namespace residua::visualizers
