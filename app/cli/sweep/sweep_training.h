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
/// A bar that is rewritten, or lines that each begin with their member, for logs and for several processes at once.
enum class MemberOutput { Bar, Lines };

struct SweepTraining {
    std::string device = "cpu";
    FailedMembers failed = FailedMembers::Leave;
    MemberOutput output = MemberOutput::Bar;
    engine::OtherData otherData = engine::OtherData::Refuse; ///< used when a member is resumed
    Computing computing;                                     ///< its time limit is for all members together
};

/// Trains the chosen members that are not finished and that no other process trains, one after another. Other processes
/// may train other members of the same sweep. A failed member does not stop the rest; an interrupt and the time limit
/// do. Returns Ok if no chosen member has failed. Updates the statuses in `plan`.
[[nodiscard]] Exit trainChosen(SweepPlan& plan, const SweepTraining& how, const Console& console);

/// True if a member's end is that of the whole sweep: an interrupt, or the time limit.
[[nodiscard]] bool endsSweep(Exit ended);

/// True if a member with this status is trained without the request to try failed ones again.
[[nodiscard]] bool canBeTrained(const engine::MemberStatus& status);

/// Returns RunFailed if a chosen member has failed or cannot be read, else Ok.
[[nodiscard]] Exit verdictOf(const SweepPlan& plan);

} // namespace residua::cli
