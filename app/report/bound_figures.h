// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/model/project.h"

#include <string>
#include <vector>

namespace residua::report {

/// The bounds that theorems put on a project's loss (engine/data/project_bounds.h), each as a figure with the measured
/// `loss` and a sentence that says whether it holds at every recorded step. Empty where no theorem speaks of the
/// project, or nothing was recorded. `title` heads each figure.
[[nodiscard]] std::string boundFigures(const std::string& title, const projects::Project& project,
                                       const std::vector<engine::MetricPoint>& loss);

} // namespace residua::report
