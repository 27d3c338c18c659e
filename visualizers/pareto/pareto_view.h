// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/studies/membership.h"
#include "resources/colours.h"
#include "visualizers/plot/plot_view.h"

#include <QString>

#include <memory>
#include <optional>
#include <vector>

namespace residua::visualizers {

class ShownRuns;

/// Whether a run's loss is its result or only the latest value; the front is made of results alone.
enum class ParetoStanding { Result, SoFar };

/// A run as a point: what it cost, and the loss it came to.
struct ParetoRun {
    QString key; ///< identifies the run (its directory)
    QString name;
    double parameters = 0;
    double flops = 0;          ///< of the steps that were trained
    double seconds = 0;        ///< that they took
    double loss = 0;           ///< the last of training; NaN: none
    double validationLoss = 0; ///< the last; NaN: none
    ParetoStanding standing = ParetoStanding::Result;
    QString status;                                                ///< in words: "finished", "running"
    std::optional<projects::Membership> membership = std::nullopt; ///< none: the run is of no sweep
    bool isCostWhole = true; ///< false: FLOP and seconds leave out the weights that it began with
    bool operator==(const ParetoRun&) const = default;
};

/// Loss of many runs against what they cost (parameters, FLOP or time), with the front of those that no other beats;
/// runs that have not finished are marked as such and never on the front. Hovering names a run, a click or Enter
/// chooses it. Keys: Left and Right go from run to run by cost. GUI thread.
class ParetoView : public PlotView {
    Q_OBJECT
public:
    /// Marks the run that `shown` has as chosen, and chooses there; does not outlive it.
    explicit ParetoView(ShownRuns& shown, QWidget* parent = nullptr);
    ~ParetoView() override;

    void setRuns(std::vector<ParetoRun> runs);
    void setTheme(resources::Theme theme) override;
    [[nodiscard]] CsvText csvText() const override;

protected:
    [[nodiscard]] QCustomPlot& plot() const override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::visualizers
