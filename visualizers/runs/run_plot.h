// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/results/stages.h"
#include "visualizers/plot/csv_text.h"
#include "visualizers/plot/curve_plot.h"
#include "visualizers/plot/turning_split.h"
#include "visualizers/runs/bound_lines.h"
#include "visualizers/runs/run_curves.h"
#include "visualizers/runs/seed_plot.h"
#include "visualizers/runs/shown_runs.h"
#include "visualizers/runs/stage_choice.h"

#include <QTimer>
#include <QWidget>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

class QLabel;

namespace residua::visualizers {

class RunPlotControls;

/// A recorded number of the overlaid runs as curves, with the choices above them: by step, units, FLOP or time; the
/// scales; a moving average with the recorded points faint behind it; runs that differ in their seeds alone as their
/// mean in a band of one deviation. Stages are bands too: those of the run in front, or of one
/// that a person chooses. GUI thread.
class RunPlot : public QWidget {
    Q_OBJECT
public:
    /// A further number that is drawn as points where it was recorded, never smoothed.
    struct Beside {
        std::string metric;
        QString title; ///< "validation"
        Qt::PenStyle line = Qt::DashLine;
    };
    /// A metric, by its name, or a row of matrices, a curve for each column.
    using Number = std::variant<std::string, CurveRow>;
    /// What is drawn of each run.
    struct Shown {
        Number number;
        QString title; ///< "training"; of columns what each is, "layer"
        QString label; ///< of the vertical axis
        /// Further columns of the export: the first is always there, the others where a run has points of them.
        std::vector<Beside> beside = {};
        bool bounded = false; ///< theorems' bounds are drawn over it, by step
    };

    /// Puts what a run has recorded into its curves, beside the fields of its steps.
    using Taker = std::function<void(RunCurves& curves, const RunNumbers& numbers)>;

    /// Follows `runs`, which it does not outlive. `invitation` stands where there is nothing to show.
    RunPlot(const ShownRuns& runs, RunCurves::Fields fields, Taker taker, Shown shown, const QString& invitation,
            QWidget* parent);

    void setShown(Shown shown);
    void putFirst(QWidget* control);
    /// Puts a widget below the plot, and beside it while there is no height for both.
    void putBelow(QWidget* widget);
    /// True while there is no height for a widget below the plot.
    [[nodiscard]] bool isLow() const { return m_split->isBeside(); }

    /// What the bands' borders did to the number shown; nothing to the columns of a row.
    [[nodiscard]] std::vector<engine::StageTransition> transitions() const;
    /// The name of the run that bands and transitions are of; empty if only one run is shown, or there are none.
    [[nodiscard]] QString stagedName() const;
    void setTheme(resources::Theme theme);
    [[nodiscard]] CsvText csvText() const;
    [[nodiscard]] CurvePlot& plot() const { return *m_plot; }

signals:
    /// Other numbers are shown now, or other stages.
    void refreshed();
    /// isLow() has changed.
    void turned();

private:
    struct Line {
        CurveName name; ///< of the series
        CurvePlot::Id raw{};
        CurvePlot::Id smooth{};
    };
    struct Drawn {
        explicit Drawn(RunCurves::Fields fields) : curves(std::move(fields)) {}
        RunCurves curves;
        std::vector<Line> lines;           ///< a column each, or the one that is shown
        std::vector<CurvePlot::Id> beside; ///< in the order of Shown's
    };
    using Item = std::pair<const std::string, Drawn>; ///< by the run's key

    void follow();
    void begin(const std::string& key);
    void take(const std::string& key, const RunNumbers& numbers);
    void remove(const std::string& key);
    void refresh();
    void layOut();
    void connectControls();
    void draw(Item& run);
    void undraw(Drawn& run);
    void style(const Item& run) const;
    void styleLine(const Item& run, std::size_t line) const;
    void styleBeside(const Item& run, std::size_t index) const;
    [[nodiscard]] bool byColumn() const { return std::holds_alternative<CurveRow>(m_shown.number); }
    [[nodiscard]] std::vector<CurveName> namesOf(const Drawn& run) const
    {
        return byColumn() ? run.curves.columnsOf(std::get<CurveRow>(m_shown.number))
                          : std::vector<CurveName>{std::get<std::string>(m_shown.number)};
    }
    void catchUp();
    void showBands();
    void showSeeds();
    void showBounds();
    [[nodiscard]] std::vector<SeedPlot::Study> studies() const;
    /// Whether this run is a part of a band that is drawn.
    [[nodiscard]] bool inBand(const Item& run) const;
    [[nodiscard]] XAxis xAxis() const;
    /// The runs that have stages.
    [[nodiscard]] StageChoice::Staged stagedRuns() const;
    /// The run whose stages are shown; null if there is none.
    [[nodiscard]] const ShownRuns::Run* staged() const { return m_stageChoice.pick(stagedRuns(), m_shownRuns.front()); }
    void offerStages();
    [[nodiscard]] const ShownRuns::Run& about(const Item& run) const { return *m_shownRuns.find(run.first); }
    [[nodiscard]] std::vector<Beside> besideInCsv() const;
    [[nodiscard]] CurvePlot::Look lookOf(const Item& run) const;

    const ShownRuns& m_shownRuns;
    RunCurves::Fields m_fields;
    Taker m_taker;
    Shown m_shown;
    CurvePlot* m_plot;
    RunPlotControls* m_controls;
    TurningSplit* m_split;
    QLabel* m_empty;
    QTimer m_later;                      ///< goes on with the averages once what waits is done
    std::map<std::string, Drawn> m_runs; ///< by key; they stay where they are: the plot points into them
    StageChoice m_stageChoice;
    SeedPlot m_seedPlot;
    BoundLines m_boundLines;
    resources::Theme m_theme = resources::Theme::Light;
};

} // namespace residua::visualizers
