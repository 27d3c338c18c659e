// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/results/spent_flops.h"
#include "visualizers/plot/series.h"
#include "visualizers/runs/curve_name.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace residua::visualizers {

/// The recorded numbers of one run by name, each against step, units, FLOP or time, without a window. Append-only but
/// for a resumed run, whose steps take the place of those they repeat: it never draws backwards.
class RunCurves {
public:
    /// Which fields of a step are curves, and their metrics; one at least.
    using Fields = std::vector<std::pair<std::string, double engine::StepRecord::*>>;

    explicit RunCurves(Fields fields);
    RunCurves(const RunCurves&) = delete;
    RunCurves& operator=(const RunCurves&) = delete;

    /// Adds steps, at the cost of the new points alone. Everything that was recorded from the first of these steps on
    /// is removed.
    void append(const std::vector<engine::StepRecord>& steps);
    /// Adds numbers that come by step alone: they stand where the last step at or before them does.
    void append(const CurveName& name, const std::vector<engine::MetricPoint>& points);

    /// The series of that name, made empty where nothing of that name was recorded. Its address stays the same.
    [[nodiscard]] Series& series(const CurveName& name);
    /// The curves of the row that were recorded, by column.
    [[nodiscard]] std::vector<CurveName> columnsOf(const CurveRow& row) const;
    /// A series that was made.
    [[nodiscard]] const Series& at(const CurveName& name) const { return m_series.at(name); }
    /// x of a step on the axis that is set: that of the last recorded step at or before it; 0 before the first.
    [[nodiscard]] double xOf(std::int64_t step) const;

    void setAxis(XAxis axis);
    /// The training FLOP, for the points that follow; until they are known a unit takes 1.
    void setFlops(engine::SpentFlops flops);
    void setWindow(double points);

private:
    void setAxisOf(Series& series) const { series.setAxis(m_axis, m_flops.perUnit); }

    Fields m_fields;
    XAxis m_axis = XAxis::Step;
    engine::SpentFlops m_flops{.perUnit = 1};
    double m_window = 1;
    std::map<CurveName, Series> m_series;
    Series* m_clock; ///< of the first field: where each step stands
};

} // namespace residua::visualizers
