// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/runs/engine_client.h"
#include "app/cli/sweep/sweep_plan.h"
#include "app/cli/terminal/console.h"
#include "engine/base/api/session.h"

#include <cstddef>
#include <string>
#include <vector>

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

/// The settings for several processes of this program on one machine.
struct Jobs {
    std::size_t threads = 0; ///< per process; 0: the processors shared evenly, or the value of OMP_NUM_THREADS
    enum class Output { Shown, Dropped } output = Output::Shown;
};

/// Runs this program once with each of these lists of words at the same time, and waits for all processes. Forwards
/// SIGINT, SIGTERM, SIGHUP and SIGUSR1 to each of them; a process whose parent dies gets SIGTERM. Their output appears
/// as they print it. Returns Interrupted if one was interrupted, else RunFailed if one failed or crashed, else Ok.
[[nodiscard]] Exit runJobs(std::vector<std::vector<std::string>> words, const Jobs& jobs, const Console& console);

} // namespace residua::cli
