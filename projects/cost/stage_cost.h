// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/cost/cost.h"
#include "projects/model/project.h"
#include "projects/schedule/stage_schedule.h"

namespace residua::projects {

/// FLOP that all steps are expected to take, as a share of those of the full model: each layer's part is weighted
/// with how often it is kept. `report` is the project's. 1 without stages.
[[nodiscard]] double expectedFlopShare(const Project& project, const CostReport& report);
/// The same of the steps of one span.
[[nodiscard]] double expectedFlopShare(const Project& project, const CostReport& report, const StageSpan& span);

} // namespace residua::projects
