// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/sweep/sweep_plan.h"
#include "app/cli/terminal/console.h"

namespace residua::cli {

/// The grid: what each member costs, why it cannot train, how far it is.
void showGrid(const SweepPlan& plan, const Console& console);

/// The grid with the losses of the members that have finished, the front among those, and what is left to do.
void showOutcome(const SweepPlan& plan, const Console& console);

/// The grid as one JSON value; nothing in text mode.
void showJson(const SweepPlan& plan, const Console& console);

/// "9 of 14 members are finished, 2 are training, 3 are not begun".
[[nodiscard]] std::string summaryOf(const SweepPlan& plan);

} // namespace residua::cli
