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

/// What the losses of a run are drawn against.
struct LossAxis {
    std::string title; ///< of the figure
    std::string label;
    std::function<double(std::int64_t step)> at; ///< ascends with the step
    double unit = 1;                             ///< places are drawn in whole multiples of it
};

[[nodiscard]] LossAxis byStep();
/// Losses against FLOP. `flopsAt`: the FLOP of the first `step` steps.
[[nodiscard]] LossAxis byFlop(std::function<double(std::int64_t step)> flopsAt);
/// Losses against the `seconds` of training so far, by step. Where a damaged record's times fall, a point stands where
/// the last did.
[[nodiscard]] LossAxis byTime(std::vector<engine::MetricPoint> seconds);
/// Points by step, each at its place on the axis.
[[nodiscard]] std::vector<engine::MetricPoint> placed(const LossAxis& axis, std::vector<engine::MetricPoint> points);

/// A run's losses: of training, as recorded and, of a long run, smoothed; of validation, and of validation of what a
/// stage trains where that was recorded; its stages are bands.
[[nodiscard]] PlotSpec lossFigure(const engine::RunReader& run, const std::vector<engine::StageRecord>& stages,
                                  const LossAxis& axis);

} // namespace residua::report
