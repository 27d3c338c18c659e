// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/project_argument.h"
#include "app/cli/runs/engine_client.h"
#include "app/cli/terminal/console.h"
#include "engine/base/api/commands.h"
#include "engine/runs/results/sweep_members.h"
#include "projects/base/result.h"
#include "projects/studies/sweep_grid.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::cli {

inline constexpr std::string_view kSteps = "/training/steps";

/// A member of the grid with its run's directory and status.
struct Planned {
    projects::SweepMember member; ///< of a grid that begins from a run: its FLOP are those of the further steps
    std::filesystem::path directory;
    engine::MemberStatus status; ///< at the last check
    bool chosen = true;          ///< by --member and --part
    std::string otherData = {};  ///< the difference of its data from those that its run was trained on; empty if none
    projects::HalvingTurn turn = {}; ///< at the last check, if the plan has rungs
    std::string prune = {};          ///< the parts of the run that it leaves out (RetrofitRequest::prune); may be empty
};

/// The run that all members go on from.
struct SweepOrigin {
    engine::RunRef of;           ///< with its step
    projects::Topology topology; ///< of the run's tower
    std::string tower = {};      ///< the name of the tower that is pruned; empty: the first
};

struct SweepPlan {
    projects::Sweep sweep;
    std::filesystem::path projectDirectory;
    std::filesystem::path folder;           ///< folder of the runs
    std::vector<Planned> members;           ///< the whole grid
    std::vector<std::string> warnings;      ///< of axes that change nothing
    std::optional<SweepOrigin> origin = {}; ///< nullopt if the members begin at step 0
    projects::Rungs rungs = {};             ///< empty: every member is trained to its last step
};

/// Returns the grid of `sweep`, whose runs are in `folder`, with a status for each member. Refuses two members that
/// would have the same directory.
[[nodiscard]] Result<SweepPlan> planOf(const NamedProject& project, const projects::Sweep& sweep,
                                       const std::filesystem::path& folder);
/// Returns the axes of --vary.
[[nodiscard]] Result<std::vector<projects::SweepAxis>> typedAxes(const Arguments& arguments);
/// Returns a directory name with letters, digits and characters without a meaning in shells.
[[nodiscard]] std::string directoryName(const std::string& label);

/// Returns the grid that the arguments of the command `sweep` mean, with a directory and a status for each member. The
/// sweep is that of --vary, the named one, or the project's only one; with --prune-weakest that of a run without its
/// weakest shortcuts (prunedPlanFrom). Refuses arguments that mean no grid, and two members that would have the same
/// directory.
[[nodiscard]] ValueOr<SweepPlan, Refusal> planFrom(const Arguments& arguments, const Console& console);

/// Limits the chosen members to those of --member and --part.
[[nodiscard]] Status choose(const Arguments& arguments, SweepPlan& plan);

/// Updates the status of every member that is not finished, and the members' turns.
void lookAgain(SweepPlan& plan);
/// Updates the turns from the members' statuses.
void decideTurns(SweepPlan& plan);
/// Compares the data of all members that have a run with the data that they were trained on.
void compareData(SweepPlan& plan);
/// Returns the status of a member in one or two words: that of its run, or "left out" at its rung.
[[nodiscard]] std::string statusWord(const Planned& planned);
/// Returns statusWord(), and a note if the member has other data.
[[nodiscard]] std::string statusText(const Planned& planned);

/// Prints the grid: each member's cost, the reason why it cannot be trained, and its progress.
void showGrid(const SweepPlan& plan, const Console& console);

/// Prints the grid with the losses of the finished members, the front among those, and the remaining work.
void showOutcome(const SweepPlan& plan, const Console& console);

/// Prints the grid as one JSON value; nothing in text mode.
void showJson(const SweepPlan& plan, const Console& console);

/// Returns the FLOP that the members without a result cost, less what rungs leave out, and their time if members have
/// finished: "1.2 PFLOP to train, about 3 min at the pace of the finished members".
[[nodiscard]] std::string estimateOf(const SweepPlan& plan);

/// Returns a text such as "9 of 14 members are finished, 2 are training, 3 are not begun".
[[nodiscard]] std::string summaryOf(const SweepPlan& plan);

/// Returns the grid of --prune-weakest: the run of the first argument without its k weakest shortcuts for each k, and
/// beside that the axes of --vary. All members go on from one checkpoint for --steps further steps. Measures the
/// knock-out of its shortcuts unless the run has kept it.
[[nodiscard]] ValueOr<SweepPlan, Refusal> prunedPlanFrom(const Arguments& arguments, const Console& console);

/// Makes the run of a member that is not begun: a fork of the plan's run. `otherData` as in RunRef. Returns nullopt if
/// it was interrupted.
[[nodiscard]] std::optional<Status> beginMember(const SweepPlan& plan, const Planned& planned,
                                                engine::OtherData otherData, const Computing& computing,
                                                const Console& console);

/// Returns the loss on held-out batches that a member's run has recorded before its first further step; NaN if unknown.
[[nodiscard]] double lossBefore(const Planned& planned);

} // namespace residua::cli
