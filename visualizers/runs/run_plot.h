// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/runs/results/stages.h"
#include "visualizers/plot/curve_plot.h"
#include "visualizers/plot/plot_controls.h"
#include "visualizers/plot/series.h"
#include "visualizers/runs/run_csv.h"
#include "visualizers/runs/run_curves.h"
#include "visualizers/runs/seed_band.h"
#include "visualizers/runs/shown_runs.h"

#include <QTimer>
#include <QWidget>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

class QLabel;

namespace residua::visualizers {

class RunPlotControls;

/// A recorded number of the overlaid runs as curves, with the choices above them: by step, units, FLOP or time; the
/// scales; a moving average with the recorded points faint behind it; runs that differ only in their seeds as their
/// mean in a band of one deviation; the differences from a baseline, over pairs of equal seeds. Stages are also shown
/// as bands: those of the run in front, or of a run that the user chooses. GUI thread.
class RunPlot : public QWidget {
    Q_OBJECT
public:
    /// A further number that is drawn as points where it was recorded, never smoothed.
    struct Beside {
        std::string metric;
        QString title; ///< "validation"
        Stroke stroke = Stroke::Dashed;
    };
    /// A metric, by its name, or a row of matrices with a curve for each column.
    using Number = std::variant<std::string, CurveRow>;
    /// The contents of the plot for each run.
    struct Shown {
        Number number;
        QString title; ///< "training"; for columns the name of each, "layer"
        QString label; ///< of the vertical axis
        /// Further columns of the export. The first is always there, the others if a run has points of them.
        std::vector<Beside> beside = {};
        bool bounded = false; ///< if true, draws theorems' bounds over it, by step
    };

    /// Adds further curves of a run's numbers, beyond the fields of its steps and its metrics; may be empty.
    using Taker = std::function<void(RunCurves& curves, const engine::Progress& numbers)>;

    /// Follows `runs`, which must outlive the plot. `invitation` is shown while there are no curves.
    RunPlot(ShownRuns& runs, RunCurves::Fields fields, Taker taker, Shown shown, const QString& invitation,
            QWidget* parent);

    void setShown(Shown shown);
    void putFirst(QWidget* control);
    /// Puts a widget below the plot, and beside it while there is no height for both.
    void putBelow(QWidget* widget);
    /// True while there is no height for a widget below the plot.
    [[nodiscard]] bool isLow() const { return m_split->isBeside(); }

    /// Returns the effects of the bands' borders on the number shown; empty for the columns of a row.
    [[nodiscard]] std::vector<engine::StageTransition> transitions() const;
    /// Returns the name of the run whose bands and transitions are shown, or an empty text for a single run.
    [[nodiscard]] QString stagedName() const;
    void setTheme(resources::Theme theme);
    [[nodiscard]] CsvText csvText() const;
    [[nodiscard]] CurvePlot& plot() const { return *m_plot; }

signals:
    /// Emitted when other numbers or stages are shown.
    void refreshed();
    /// isLow() has changed.
    void turned();

private:
    using Item = std::pair<const std::string, RunCurves>; ///< by the run's key

    void follow();
    void begin(const std::string& key);
    void take(const std::string& key, const engine::Progress& numbers);
    void refresh();
    void showCurves();
    void layOut();
    void connectControls();
    void addCurves(PlotSpec& spec, Item& run) const;
    void addLine(PlotSpec& spec, Item& run, const std::vector<CurveName>& names, std::size_t line) const;
    [[nodiscard]] bool byColumn() const { return std::holds_alternative<CurveRow>(m_shown.number); }
    [[nodiscard]] std::vector<CurveName> namesOf(const RunCurves& run) const
    {
        return byColumn() ? run.columnsOf(std::get<CurveRow>(m_shown.number))
                          : std::vector<CurveName>{std::get<std::string>(m_shown.number)};
    }
    /// Returns the name of the layer that a curve is of, in the run's network.
    [[nodiscard]] QString columnName(const std::string& key, const CurveName& curve) const;
    void catchUp();
    void addBands(PlotSpec& spec);
    using BandKey = std::pair<std::string, std::string>; ///< group or run, number
    using Unit = std::vector<const ShownRuns::Run*>;     ///< runs of one group, or a single run
    /// Returns the shown runs by their groups, or each as a unit of its own. A run with the seeds of another in its
    /// group is a unit of its own in both cases.
    [[nodiscard]] std::vector<Unit> units(bool grouped) const;
    [[nodiscard]] std::string keyOf(const Unit& unit) const;
    [[nodiscard]] QString nameOf(const Unit& unit) const;
    [[nodiscard]] std::vector<Unit> possibleBaselines() const;
    void offerBaselines();
    void chooseBaseline(int index);
    /// Returns the shown runs of the baseline. If there are any, the plot shows differences from them.
    [[nodiscard]] Unit baseline() const;
    /// Returns the run of the baseline with this run's seeds, or else its first.
    [[nodiscard]] const ShownRuns::Run& partnerOf(const ShownRuns::Run& run, const Unit& baseline) const;
    [[nodiscard]] bool drawsAlike(const ShownRuns::Run& a, const ShownRuns::Run& b) const;
    /// True if each run has a partner with its seeds.
    [[nodiscard]] bool isPaired(const Unit& unit, const Unit& baseline) const;
    /// Adds means over seeds, or differences, and returns their bands.
    std::set<BandKey> addMeans(PlotSpec& spec);
    BandKey addMean(PlotSpec& spec, const Unit& unit, const Beside& number, bool marks);
    [[nodiscard]] Beside mainNumber() const;
    [[nodiscard]] std::vector<RunRows> rowsOfDifferences() const;
    void noteUnpaired(PlotSpec& spec) const;
    void addBounds(PlotSpec& spec) const;
    /// True if this run is part of a drawn band.
    [[nodiscard]] bool inBand(const Item& run) const { return m_inBand.contains(run.first); }
    [[nodiscard]] XAxis xAxis() const;
    /// Returns the runs that have stages.
    [[nodiscard]] std::vector<const ShownRuns::Run*> stagedRuns() const;
    /// Returns the run whose stages are shown: the one that the user chose, else the one in front, else the first that
    /// has stages. Returns null without such a run, or if the user chose no stages.
    [[nodiscard]] const ShownRuns::Run* staged() const;
    void offerStages();
    [[nodiscard]] const ShownRuns::Run& about(const Item& run) const { return *m_shownRuns.find(run.first); }
    [[nodiscard]] std::vector<Beside> besideInCsv() const;
    /// Returns the common style of all curves of a run.
    [[nodiscard]] PlotCurve curveOf(const std::string& key) const;

    ShownRuns& m_shownRuns;
    RunCurves::Fields m_fields;
    Taker m_taker;
    Shown m_shown;
    CurvePlot* m_plot;
    RunPlotControls* m_controls;
    TurningSplit* m_split;
    QLabel* m_empty;
    QTimer m_later;                          ///< continues the averages after other events
    std::map<std::string, RunCurves> m_runs; ///< by key; a map, because the plot has pointers to its elements
    AxisScale m_scaleX = AxisScale::Linear;
    AxisScale m_scaleY = AxisScale::Linear;
    std::string m_stagesOf; ///< the run whose stages the user chose; empty: none was chosen
    bool m_hidesStages = false;
    std::set<std::string> m_inBand;      ///< keys of the runs whose mean over seeds is drawn
    std::map<BandKey, SeedBand> m_bands; ///< a map, because the plot has pointers to its elements
};

} // namespace residua::visualizers
