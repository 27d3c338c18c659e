// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/project_argument.h"
#include "app/cli/runs/engine_client.h"
#include "app/cli/sweep/sweep_plan.h"
#include "app/cli/terminal/console.h"
#include "projects/base/result.h"

#include <optional>
#include <variant>

namespace residua::cli {

/// Returns the grid of --prune-weakest: the run of the first argument without its k weakest shortcuts for each k, and
/// beside that the axes of --vary. All members go on from one checkpoint for --steps further steps. Measures the
/// knock-out of its shortcuts unless the run has kept it.
[[nodiscard]] std::variant<SweepPlan, Refusal> prunedPlanFrom(const Arguments& arguments, const Console& console);

/// Makes the run of a member that is not begun: a fork of the plan's run. `otherData` as in RunRef. Returns nullopt if
/// it was interrupted.
[[nodiscard]] std::optional<Status> beginMember(const SweepPlan& plan, const Planned& planned,
                                                engine::OtherData otherData, const Computing& computing,
                                                const Console& console);

/// Returns the loss on held-out batches that a member's run has recorded before its first further step; NaN if unknown.
[[nodiscard]] double lossBefore(const Planned& planned);

} // namespace residua::cli
