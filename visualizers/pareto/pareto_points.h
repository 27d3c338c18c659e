// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/studies/paired_difference.h"
#include "visualizers/pareto/pareto_view.h"
#include "visualizers/runs/shown_runs.h"

#include <QString>

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace residua::visualizers {

/// The finished runs of a group as one point, or another run alone.
struct ParetoPoint {
    enum class Kind { Result, SoFar, Apart }; ///< apart: of incomplete cost, never on the front
    Kind kind = Kind::Result;
    std::vector<std::size_t> runs; ///< indices, at least one
    QString name;
    std::optional<std::size_t> colour; ///< of its group; nullopt while that is not known
    double cost = 0;                   ///< mean over the runs
    projects::MeanOfSeveral loss;
};

/// The numbers of a run that the axes show. A run that lacks one of them is not drawn.
struct ParetoAxes {
    std::function<double(const ParetoRun&)> cost;
    std::function<double(const ParetoRun&)> loss;
    std::function<bool(const ParetoRun&)> isApart;
};

/// Returns the points in the order of their first runs.
[[nodiscard]] std::vector<ParetoPoint> paretoPoints(const std::vector<ParetoRun>& runs, const ShownRuns& shown,
                                                    const ParetoAxes& axes);
/// Returns the indices of the points on the front, by increasing cost.
[[nodiscard]] std::vector<std::size_t> frontOf(const std::vector<ParetoPoint>& points, const projects::Judge& judge);

} // namespace residua::visualizers
