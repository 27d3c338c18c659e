// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/gap.h"
#include "visualizers/gap/gap_model.h"
#include "visualizers/plot/plot_view.h"

#include <QString>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace residua::visualizers {

class ShownRuns;

/// The distance of factored weights from the full ones by the method that makes the factors: bars and a table, filled
/// during the computation, and below them the losses of runs from each start. The owner decides what is computed and
/// where. GUI thread.
class GapView : public PlotView {
    Q_OBJECT
public:
    /// The weights to examine.
    enum class Subject {
        Drawn,   ///< the project's, as it initialises them
        Learned, ///< those of the run in front at its last checkpoint
        Started, ///< the initial weights that this run has recorded
    };
    /// The user's choices.
    struct Asked {
        Subject subject{};
        std::vector<projects::LowRankMethod> methods;
        std::optional<double> rankShare; ///< nullopt: the project's own ranks
        int seeds = 1;                   ///< number of trainings from each method
    };

    /// The losses below follow `runs`, which must outlive the view.
    explicit GapView(const ShownRuns& runs, QWidget* parent = nullptr);
    ~GapView() override;

    [[nodiscard]] Asked asked() const;
    /// Replaces the gap that is shown. Shows nothing for a gap without weights.
    void setGap(const engine::Gap& gap);
    /// Whether a gap is being computed and can be stopped.
    enum class Work { Rests, Computes };
    void setWork(Work work);
    /// Shows a line below the bars; empty: the notes of the gap itself.
    void tell(const QString& text);
    /// Marks the weights of these places, in the current gap and later ones.
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
    void resizeEvent(QResizeEvent* event) override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::visualizers
