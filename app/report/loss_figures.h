// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/report/svg_plot.h"
#include "engine/base/api/values.h"
#include "engine/runs/results/run_reader.h"
#include "projects/model/project.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::report {

/// The horizontal axis of a run's losses.
struct LossAxis {
    std::string title; ///< of the figure
    std::string label;
    std::function<double(std::int64_t step)> at; ///< ascends with the step
    double least = 1;                            ///< PlotSpec::xLeast
};

[[nodiscard]] LossAxis byStep();
/// Returns the axis of FLOP. `flopsAt` gives the FLOP of the first `step` steps.
[[nodiscard]] LossAxis byFlop(std::function<double(std::int64_t step)> flopsAt);
/// Returns the axis of the `seconds` of training so far, by step.
[[nodiscard]] LossAxis byTime(std::vector<engine::MetricPoint> seconds);
/// Returns the axis of steps in a world.
[[nodiscard]] LossAxis byEnvironmentSteps(const projects::WorldData& world);
/// Returns points by step as a curve over the axis. A point whose position is below that of the last one or is NaN, as
/// in a damaged record, is at the last position.
[[nodiscard]] resources::Curve placed(const LossAxis& axis, const std::vector<engine::MetricPoint>& points);

/// Returns the bounds of a metric's values, for PlotSpec::yBounds.
[[nodiscard]] std::optional<resources::AxisRange> boundsOf(std::string_view metric);

/// Returns a run's losses: training, as recorded and, for a long run, smoothed; validation; and validation of the parts
/// that a stage trains, if recorded. Its stages are bands.
[[nodiscard]] PlotSpec lossFigure(const engine::RunReader& run, const std::vector<engine::StageRecord>& stages,
                                  const LossAxis& axis);

/// Returns the bounds whose premises the project meets, at `count` steps spread over its training. Empty for most
/// projects. Any thread.
[[nodiscard]] std::vector<resources::BoundCurve> boundCurves(const projects::Project& project, std::int64_t count);

/// Returns the theorems' bounds on a project's loss (engine/data/sets/project_bounds.h), each as a figure with the
/// measured `loss` and a sentence that tells whether it holds at every recorded step. Empty if no theorem applies, or
/// nothing was recorded. `title` is the heading of each figure.
[[nodiscard]] std::string boundFigures(const std::string& title, const projects::Project& project,
                                       const std::vector<engine::MetricPoint>& loss);

} // namespace residua::report
