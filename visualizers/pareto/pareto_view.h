// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/objective.h"
#include "resources/colours.h"
#include "visualizers/plot/plot_view.h"

#include <QString>

#include <limits>
#include <memory>
#include <vector>

namespace residua::visualizers {

class ShownRuns;

/// Whether a run's loss is its result or only the latest value. Only results are on the front.
enum class ParetoStanding { Result, SoFar };

/// A run with its cost and its loss.
struct ParetoRun {
    QString key; ///< identifies the run (its directory)
    QString name;
    double parameters = 0;
    double flops = 0;          ///< of the steps that were trained
    double seconds = 0;        ///< taken by these steps
    double loss = 0;           ///< the last training loss, or what the run is judged by in its place; NaN: none
    double validationLoss = 0; ///< the same of validation
    ParetoStanding standing = ParetoStanding::Result;
    QString status;          ///< in words: "finished", "running"
    bool isCostWhole = true; ///< false if FLOP and seconds do not include the training of its initial weights
    projects::Judge judge = {};
    double passFlops = 0;                                       ///< of a forward pass, per token or sample
    double lastLoss = std::numeric_limits<double>::quiet_NaN(); ///< mean training loss of the last steps; NaN: none
    bool operator==(const ParetoRun&) const = default;
};

/// The loss of many runs against their cost (parameters, FLOP, time, or FLOP of a pass), with the Pareto front. The
/// finished runs of a group are one point at their means, in the group's colour, with a bar of one standard deviation
/// and its runs as small dots; the front is that of these points. Runs that have not finished are marked and never on
/// the front. Hovering shows a point's name; a click selects its first run. Keys: Left and Right move from point to
/// point by cost. GUI thread.
class ParetoView : public PlotView {
    Q_OBJECT
public:
    /// Marks and sets the chosen run of `shown`, which must outlive the view.
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
