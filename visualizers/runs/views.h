// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/model/topology.h"
#include "resources/colours.h"
#include "visualizers/plot/plot_view.h"

#include <QColor>
#include <QString>
#include <QWidget>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::visualizers {

using Theme = resources::Theme;

/// Loss of one or more runs: training (raw faint behind the smoothed) and validation, against step, tokens, FLOP or
/// time, with the stages as bands and a table of what each transition did. GUI thread.
class LossView : public PlotView {
    Q_OBJECT
public:
    explicit LossView(QWidget* parent = nullptr);
    ~LossView() override;

    /// Adds or renames a curve pair; `key` identifies the run (its directory).
    void setRun(const QString& key, const QString& name);
    /// Training FLOP per token or sample, for the axis of that name.
    void setFlopPerUnit(const QString& key, double flop);
    /// The stages of the run, from what it recorded. Bands are those of the first run that has any.
    void setEvents(const QString& key, const std::vector<residua::engine::RunEvent>& events);
    void removeRun(const QString& key);
    /// What its curves are drawn in; invalid for a run that is not shown.
    [[nodiscard]] QColor colourOf(const QString& key) const;
    void clear();
    /// Appends; points at or before the last drawn step replace what was there (a resumed run never draws backwards).
    void append(const QString& key, const std::vector<residua::engine::StepRecord>& steps,
                const std::vector<residua::engine::ValidationRecord>& validations);
    void setTheme(Theme theme);
    [[nodiscard]] CsvText csvText() const override;

protected:
    [[nodiscard]] QCustomPlot& plot() const override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Any other recorded number of one or more runs, one at a time: gradient norm, learning rate, throughput, memory, the
/// norms of the layers (a curve each). Against step, tokens, FLOP or time, smoothed on request, with the stages as
/// bands. GUI thread.
class MetricsView : public PlotView {
    Q_OBJECT
public:
    explicit MetricsView(QWidget* parent = nullptr);
    ~MetricsView() override;

    void setRun(const QString& key, const QString& name);
    /// As LossView's.
    void setFlopPerUnit(const QString& key, double flop);
    void setEvents(const QString& key, const std::vector<residua::engine::RunEvent>& events);
    void removeRun(const QString& key);
    void clear();
    /// Gradient norm and learning rate.
    void append(const QString& key, const std::vector<residua::engine::StepRecord>& steps);
    /// `name` as in run_reader.h. Points at or before the last replace what was there.
    void append(const QString& key, const std::string& name, const std::vector<residua::engine::MetricPoint>& points);
    /// The layers' norms among them (layer_norms.h).
    void append(const QString& key, const std::vector<residua::engine::Matrix>& matrices);
    void setTheme(Theme theme);
    [[nodiscard]] CsvText csvText() const override;

protected:
    [[nodiscard]] QCustomPlot& plot() const override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Mixing coefficients as a grid, row = target, column = source, of one port at a time, with a step scrubber: their
/// values, their change since the start or a pinned step, their difference from another run, or ANCRe's logarithm.
/// Keys: arrows go from cell to cell, PageUp and PageDown from step to step, Home and End to the first and last, Space
/// plays, P pins. GUI thread.
class HeatmapView : public PlotView {
    Q_OBJECT
public:
    explicit HeatmapView(QWidget* parent = nullptr);
    ~HeatmapView() override;

    /// Forgets every frame, but not the run that they are compared with.
    void clear();
    /// The wiring of the run whose matrices follow, which says how their weights are coloured; clear() forgets it.
    void setWiring(const residua::projects::Wiring& wiring);
    /// Appends the frame; follows the newest while the scrubber stands at the end.
    void append(const std::vector<residua::engine::Matrix>& matrices);
    /// The run to show the difference from; no matrices: none.
    void compareWith(const QString& name, const std::vector<residua::engine::Matrix>& matrices);
    /// The applied weights ("mix", "mix/q") of one feature by step, as featureWanted asked for; none: of all again.
    void setFeature(int feature, const std::vector<residua::engine::Matrix>& matrices);
    /// Later steps of the feature that is shown.
    void appendFeature(const std::vector<residua::engine::Matrix>& matrices);
    [[nodiscard]] std::optional<int> feature() const;
    void setTheme(Theme theme);
    /// Outlines a cell (hover on the canvas); row = target − 1. A negative row: none.
    void setHighlighted(int row, int column);
    [[nodiscard]] CsvText csvText() const override;

signals:
    void cellHovered(int row, int column); ///< −1, −1 when the pointer leaves
    void featureWanted(int feature);       ///< a person asks for a single feature's weights

protected:
    [[nodiscard]] QCustomPlot& plot() const override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::visualizers
