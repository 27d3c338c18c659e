// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// How a time series is shown.
struct MetricTraits {
    std::string name;
    std::string title;
    std::string unit = {}; ///< of the shown values; empty if the title says it
    double scale = 1;      ///< a shown value is a recorded one multiplied by this (shownPoints)
};

/// True if the last value of the metric rates a run: a quantity of training or validation, as "accuracy/validation".
[[nodiscard]] bool isRating(std::string_view name);
/// True if every value of the metric is a share of a whole, in 0..1: an accuracy, an F1 score, a share of the time.
[[nodiscard]] bool isShare(std::string_view name);
/// Returns the metrics with a plot of their own: first those of every run, then those among `names` that measure a
/// further quantity of the objective, and those of several ranks. The loss has its own view.
[[nodiscard]] std::vector<MetricTraits> plottedMetrics(const std::set<std::string>& names);
/// Returns recorded points of a metric as they are shown.
[[nodiscard]] std::vector<MetricPoint> shownPoints(std::string_view name, std::vector<MetricPoint> points);
/// Returns the metrics, except for losses, that rate one of the runs, as columns of a table.
[[nodiscard]] std::vector<MetricTraits> ratingColumns(std::span<const RunInfo> runs);

} // namespace residua::engine
