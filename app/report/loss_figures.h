// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/report/svg_plot.h"
#include "engine/api/values.h"
#include "engine/results/run_reader.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace residua::report {

/// The horizontal axis of a run's losses.
struct LossAxis {
    std::string title; ///< of the figure
    std::string label;
    std::function<double(std::int64_t step)> at; ///< ascends with the step
    double unit = 1;                             ///< positions are rounded to multiples of it
};

[[nodiscard]] LossAxis byStep();
/// Returns the axis of FLOP. `flopsAt` gives the FLOP of the first `step` steps.
[[nodiscard]] LossAxis byFlop(std::function<double(std::int64_t step)> flopsAt);
/// Returns the axis of the `seconds` of training so far, by step. If the times of a damaged record decrease, a point is
/// at the last time.
[[nodiscard]] LossAxis byTime(std::vector<engine::MetricPoint> seconds);
/// Converts points by step to their positions on the axis.
[[nodiscard]] std::vector<engine::MetricPoint> placed(const LossAxis& axis, std::vector<engine::MetricPoint> points);

/// Returns a run's losses: training, as recorded and, for a long run, smoothed; validation; and validation of the parts
/// that a stage trains, if recorded. Its stages are bands.
[[nodiscard]] PlotSpec lossFigure(const engine::RunReader& run, const std::vector<engine::StageRecord>& stages,
                                  const LossAxis& axis);

} // namespace residua::report
