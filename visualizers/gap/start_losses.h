// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/plot_view.h"

#include <memory>

namespace residua::visualizers {

class ShownRuns;

/// The losses of the overlaid runs with factored weights. Each run is named after the start of its factors and drawn in
/// the start's colour. Runs that differ only in their seeds are shown as a mean in a band. GUI thread.
class StartLosses : public PlotView {
    Q_OBJECT
public:
    /// Follows `runs`, which must outlive the view.
    explicit StartLosses(const ShownRuns& runs, QWidget* parent = nullptr);
    ~StartLosses() override;

    [[nodiscard]] bool isEmpty() const;
    void setTheme(resources::Theme theme) override;
    [[nodiscard]] CsvText csvText() const override;

signals:
    /// Emitted when the view gets its first run or loses its last.
    void emptyChanged();

protected:
    [[nodiscard]] QCustomPlot& plot() const override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::visualizers
