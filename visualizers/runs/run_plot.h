// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/results/stages.h"
#include "visualizers/plot/csv_text.h"
#include "visualizers/plot/curve_plot.h"
#include "visualizers/runs/run_curves.h"

#include <QColor>
#include <QTimer>
#include <QWidget>

#include <map>
#include <string>
#include <vector>

class QComboBox;
class QHBoxLayout;
class QLabel;
class QSlider;
class QSplitter;

namespace residua::visualizers {

/// A recorded number of one or more runs as curves, with the choices above them: by step, units, FLOP or time; the
/// scales; a moving average with the recorded points faint behind it. Stages are bands, those of the first run that has
/// any. GUI thread.
class RunPlot : public QWidget {
    Q_OBJECT
public:
    /// What is drawn of each run.
    struct Shown {
        std::string name;    ///< as RunCurves knows it; ending in "/": a curve for each layer whose name begins so
        QString title;       ///< "training"
        QString label;       ///< of the vertical axis
        std::string beside;  ///< drawn as points of their own, never smoothed; empty: nothing
        QString besideTitle; ///< "validation"
    };

    /// `invitation` stands where there is nothing to show.
    RunPlot(RunCurves::Fields fields, Shown shown, const QString& invitation, QWidget* parent);

    void setShown(Shown shown);
    /// From none, 0, to a mean over about 1,000 points.
    void setSmoothing(int position);
    void putFirst(QWidget* control);
    void putBeside(QWidget* widget);

    /// The run of this key, its directory; a new one where there is none. refresh() shows what is put into it.
    [[nodiscard]] RunCurves& run(const QString& key);
    void setRun(const QString& key, const QString& name);
    void setEvents(const QString& key, const std::vector<engine::RunEvent>& events);
    void removeRun(const QString& key);
    void clear();
    void refresh();
    /// What its curves are drawn in; invalid for a run that is not there.
    [[nodiscard]] QColor colourOf(const QString& key) const;
    /// What the bands' borders did to the number shown.
    [[nodiscard]] std::vector<engine::StageTransition> transitions() const;
    void setTheme(resources::Theme theme);
    [[nodiscard]] CsvText csvText() const;
    [[nodiscard]] CurvePlot& plot() const { return *m_plot; }

private:
    struct Line {
        std::string name; ///< of the series
        CurvePlot::Id raw{};
        CurvePlot::Id smooth{};
    };
    struct Run {
        explicit Run(RunCurves::Fields fields) : curves(std::move(fields)) {}
        RunCurves curves;
        QString name;
        std::vector<engine::StageStart> stages;
        std::size_t colour = 0;
        std::vector<Line> lines; ///< a layer each, or the one that is shown
        CurvePlot::Id beside{};
    };

    [[nodiscard]] Run& at(const QString& key);
    void layOut();
    void connectControls();
    void setScale(int index);
    void draw(Run& run);
    void undraw(Run& run);
    void style(const Run& run) const;
    void styleLine(const Run& run, std::size_t line) const;
    [[nodiscard]] bool byLayer() const { return m_shown.name.ends_with('/'); }
    [[nodiscard]] std::vector<std::string> namesOf(const Run& run) const;
    void catchUp();
    void showBands();
    [[nodiscard]] bool smooths() const;
    [[nodiscard]] XAxis xAxis() const;
    [[nodiscard]] QString xName() const;
    [[nodiscard]] const Run* staged() const;
    [[nodiscard]] QString legendName(const Run& run, const QString& title) const;

    RunCurves::Fields m_fields;
    Shown m_shown;
    CurvePlot* m_plot;
    QHBoxLayout* m_controls;
    QComboBox* m_axis;
    QComboBox* m_scale;
    QSlider* m_smoothing;
    QSplitter* m_split;
    QLabel* m_empty;
    QTimer m_later;                ///< goes on with the averages once what waits is done
    std::map<QString, Run> m_runs; ///< stay where they are: the plot points into them
    std::size_t m_nextColour = 0;
    resources::Theme m_theme = resources::Theme::Light;
};

} // namespace residua::visualizers
