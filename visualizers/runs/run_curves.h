// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/events.h"
#include "engine/runs/results/spent_flops.h"
#include "projects/model/data_source.h"
#include "visualizers/plot/series.h"
#include "visualizers/runs/curve_name.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace residua::visualizers {

/// The recorded numbers of one run by name, each against all axes (XAxis), without a window. Append-only except for a
/// resumed run, whose steps replace those that they repeat, so that a curve never goes backwards.
class RunCurves {
public:
    /// The fields of a step that are curves, and their metrics; at least one.
    using Fields = std::vector<std::pair<std::string, double engine::StepRecord::*>>;

    explicit RunCurves(Fields fields);
    RunCurves(const RunCurves&) = delete;
    RunCurves& operator=(const RunCurves&) = delete;

    /// Adds steps, at the cost of the new points only. Removes everything recorded from the first of these steps on.
    void append(const std::vector<engine::StepRecord>& steps);
    /// Adds numbers that have only a step. Their positions are those of the last step at or before them.
    void append(const CurveName& name, const std::vector<engine::MetricPoint>& points);
    /// Adds the steps and the rows of metrics, as they are shown.
    void append(const engine::Progress& numbers);

    /// Returns the series with this name, creating it if needed. Its address never changes.
    [[nodiscard]] Series& series(const CurveName& name);
    /// Returns the recorded curves of the row, by column.
    [[nodiscard]] std::vector<CurveName> columnsOf(const CurveRow& row) const;
    /// Returns an existing series.
    [[nodiscard]] const Series& at(const CurveName& name) const { return m_series.at(name); }
    /// Returns x of a step on the current axis: that of the last recorded step at or before it; 0 before the first.
    [[nodiscard]] double xOf(std::int64_t step) const;

    void setAxis(XAxis axis);
    /// Sets the training FLOP for later points. Until then, a unit counts as 1.
    void setFlops(engine::SpentFlops flops);
    /// Sets the world that later points acted in. Without one, they have 0 environment steps.
    void setWorld(const std::optional<projects::WorldData>& world) { m_world = world; }
    void setWindow(double points);

private:
    void setAxisOf(Series& series) const { series.setAxis(m_axis, m_flops.perUnit); }

    Fields m_fields;
    XAxis m_axis = XAxis::Step;
    engine::SpentFlops m_flops{.perUnit = 1};
    std::optional<projects::WorldData> m_world;
    double m_window = 1;
    std::map<CurveName, Series> m_series;
    Series* m_clock; ///< series of the first field, which has the position of each step
};

} // namespace residua::visualizers
