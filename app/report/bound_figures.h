// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/model/project.h"

#include <string>
#include <vector>

namespace residua::report {

/// A theorem's bound at some steps, drawn over the curve of a loss.
struct BoundCurve {
    std::string name;   ///< "Theorem 3.3 (ANCRe)"
    std::string claim;  ///< one line for people
    std::string caveat; ///< limits of applying the theorem to a run, one sentence; may be empty
    bool lower = false; ///< true if the loss is at or above it
    std::vector<engine::MetricPoint> points;
};

/// Returns the bounds whose premises the project meets, at `count` steps spread over its training. Empty for most
/// projects. Any thread.
[[nodiscard]] std::vector<BoundCurve> boundCurves(const projects::Project& project, std::int64_t count);

/// Returns the theorems' bounds on a project's loss (engine/data/project_bounds.h), each as a figure with the measured
/// `loss` and a sentence that tells whether it holds at every recorded step. Empty if no theorem applies, or nothing
/// was recorded. `title` is the heading of each figure.
[[nodiscard]] std::string boundFigures(const std::string& title, const projects::Project& project,
                                       const std::vector<engine::MetricPoint>& loss);

} // namespace residua::report
