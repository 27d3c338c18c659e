// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/runs/computing.h"
#include "app/cli/sweep/sweep_plan.h"
#include "app/cli/terminal/console.h"
#include "engine/api/session.h"

#include <string>

namespace residua::cli {

/// Whether members that failed before are trained again.
enum class FailedMembers { Leave, TryAgain };
/// A bar that is rewritten, or lines that each begin with their member, for logs and several processes at once.
enum class MemberOutput { Bar, Lines };

struct SweepTraining {
    std::string device = "cpu";
    FailedMembers failed = FailedMembers::Leave;
    MemberOutput output = MemberOutput::Bar;
    engine::OtherData otherData = engine::OtherData::Refuse; ///< where a member goes on
    Computing computing;                                     ///< its time limit is for all members together
};

/// Trains the chosen members that nobody trains and that are not finished, one after another, as long as there is one:
/// whoever else trains the same sweep takes others. A failed member does not stop the rest; an interrupt and the time
/// limit do.
/// Ok where no chosen member has failed; `plan` has the statuses of the end.
[[nodiscard]] Exit trainChosen(SweepPlan& plan, const SweepTraining& how, const Console& console);

/// Whether a member's end is the whole sweep's: an interrupt, or the time limit.
[[nodiscard]] bool endsSweep(Exit ended);

/// Whether a member with this status is trained without being asked to try failed ones again.
[[nodiscard]] bool canBeTrained(const engine::MemberStatus& status);

/// RunFailed where a chosen member has failed or cannot be read, else Ok.
[[nodiscard]] Exit verdictOf(const SweepPlan& plan);

} // namespace residua::cli
