// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/sweep/sweep_plan.h"
#include "app/cli/terminal/console.h"

namespace residua::cli {

/// Prints the grid: each member's cost, the reason why it cannot be trained, and its progress.
void showGrid(const SweepPlan& plan, const Console& console);

/// Prints the grid with the losses of the finished members, the front among those, and the remaining work.
void showOutcome(const SweepPlan& plan, const Console& console);

/// Prints the grid as one JSON value; nothing in text mode.
void showJson(const SweepPlan& plan, const Console& console);

/// Returns a text such as "9 of 14 members are finished, 2 are training, 3 are not begun".
[[nodiscard]] std::string summaryOf(const SweepPlan& plan);

} // namespace residua::cli
