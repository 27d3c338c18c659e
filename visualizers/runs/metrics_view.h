// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "resources/colours.h"
#include "visualizers/plot/plot_view.h"

#include <QString>
#include <QWidget>

#include <memory>
#include <string>
#include <vector>

namespace residua::visualizers {

using Theme = resources::Theme;

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
    /// The layers' magnitudes among them (layer_magnitudes.h).
    void append(const QString& key, const std::vector<residua::engine::Matrix>& matrices);
    void setTheme(Theme theme);
    [[nodiscard]] CsvText csvText() const override;

protected:
    [[nodiscard]] QCustomPlot& plot() const override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::visualizers
