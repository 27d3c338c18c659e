// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/queries.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>

// The commands that a session executes.
namespace residua::engine {

/// Trains `project`. A copy of it is frozen in the run's directory.
struct StartRun {
    RunId run{};
    projects::Project project;
    std::filesystem::path projectDirectory; ///< relative data paths start here
    /// The directory must not exist or must be empty, apart from the remains of a run that was interrupted before it
    /// began. If empty, the run gets a new directory in `runFolder` when it begins, which RunStarted reports.
    std::filesystem::path runDirectory;
    std::filesystem::path runFolder;
    std::string device = "cpu";
    std::int64_t pauseAfter = 0; ///< pauses after this many steps (Step on a new run); 0: never
    /// The sweep's member that this run trains, or nullopt. The run of a member is named project.name.
    std::optional<projects::Membership> membership = std::nullopt;
    bool waitsForDisk = false;  ///< if the run cannot be written, it pauses instead of failing (RunPaused::error)
    std::int64_t stopAfter = 0; ///< stops after this step, with a checkpoint; 0: never
};
/// Resumes from a checkpoint, or from step 0 if no checkpoint exists. Drops the records after it.
struct ResumeRun {
    RunId run{};
    RunRef of; ///< projectDirectory, unless it is empty, replaces the one recorded in the run
    std::string device = "cpu";
    std::optional<std::int64_t> steps; ///< a new total of steps
    bool waitsForDisk = false;         ///< as in StartRun
    std::int64_t stopAfter = 0;        ///< as in StartRun
};
/// On another rank than 0 of those that train together (rankPosition): trains along until rank 0's run ends. Stop asks
/// rank 0 to stop the run; other commands wait for its end.
struct FollowRun {
    RunId run{};
    /// The values that this process was given; those that differ from rank 0's, which count, are told. Empty: not
    /// given.
    std::optional<projects::Project> project;
    std::filesystem::path runDirectory;
    std::string device;
    std::optional<std::int64_t> steps; ///< in place of a project
};
/// On any of those ranks: ends the others, because this process does not train. Answers RunEnded with the error.
struct RefuseRanks {
    RunId run{};
    Error error;
};
struct Pause {
    RunId run{};
};
struct Continue {
    RunId run{};
};
/// Trains for `steps` steps, then pauses.
struct Step {
    RunId run{};
    std::int64_t steps = 1;
};
/// Ends the run at the next step boundary, after writing a checkpoint.
struct Stop {
    RunId run{};
};
struct WriteCheckpoint {
    RunId run{};
};

/// Cancels a query, which then answers QueryFailed. An import, an export or a loading of weights removes what it has
/// written. Does nothing if the query has been answered already.
struct GiveUp {
    QueryTag tag{};
};

using Command = Queries::Commands<StartRun, ResumeRun, FollowRun, RefuseRanks, Pause, Continue, Step, Stop,
                                  WriteCheckpoint, GiveUp>;

/// True for the commands that begin a run.
template <class Asked>
inline constexpr bool kBeginsRun = std::is_same_v<Asked, StartRun> || std::is_same_v<Asked, ResumeRun> ||
                                   std::is_same_v<Asked, FollowRun> || std::is_same_v<Asked, RefuseRanks>;
/// True for the commands to a run that has begun: Stop, Pause and the like.
template <class Asked>
inline constexpr bool kControlsRun = !kBeginsRun<Asked> && requires(Asked asked)
{
    asked.run;
};

} // namespace residua::engine
