// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/gap.h"
#include "visualizers/gap/gap_rows.h"
#include "visualizers/plot/plot_view.h"

#include <QString>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace residua::visualizers {

class ShownRuns;

/// How far weights in factors are from the full ones, by the method that makes the factors: bars and a table, filled
/// while it is computed, and below them the losses of runs from each start. What is computed, and where, is its owner's
/// to say. GUI thread.
class GapView : public PlotView {
    Q_OBJECT
public:
    /// Whose weights are looked at.
    enum class Subject {
        Drawn,   ///< the project's, as it draws them
        Learned, ///< those of the run in front, at its last checkpoint
        Started, ///< what that run has recorded of its start
    };
    /// What a person has chosen.
    struct Asked {
        Subject subject{};
        std::vector<projects::LowRankMethod> methods;
        std::optional<double> rankShare; ///< nullopt: the project's own ranks
        int seeds = 1;                   ///< of what is trained from each method
    };

    /// The losses below follow `runs`, which it does not outlive.
    explicit GapView(const ShownRuns& runs, QWidget* parent = nullptr);
    ~GapView() override;

    [[nodiscard]] Asked asked() const;
    /// Shows this gap in place of what is shown; without weights nothing.
    void setGap(const engine::Gap& gap);
    /// Whether a gap is being computed: then there is something to stop.
    enum class Work { Rests, Computes };
    void setWork(Work work);
    /// A line below the bars; empty: what the gap itself has to say.
    void tell(const QString& text);
    /// Marks the weights of these places, now and in gaps to come.
    void mark(std::function<bool(const WeightPlace&)> which);

    void setTheme(resources::Theme theme) override;
    [[nodiscard]] CsvText csvText() const override;

signals:
    void computeRequested();
    void stopRequested();
    void trainRequested();
    void weightChosen(const residua::visualizers::WeightPlace& place);

protected:
    [[nodiscard]] QCustomPlot& plot() const override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::visualizers
