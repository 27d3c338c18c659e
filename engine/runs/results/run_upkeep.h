// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace residua::engine {

struct StartRun;

/// Operations on whole runs. Blocking; any thread.

/// Makes `newRun`, which must not exist (empty: a new directory beside `run`), from the checkpoint of `step` of `run`:
/// with its numbers up to there, its project, that checkpoint, and its origin. Its status is Stopped; ResumeRun trains
/// it. Returns its directory. `project`, if it is not null, is trained from there on instead of the run's; refused if
/// it differs in more than a run can change (canChangeInRun, projects/commands).
[[nodiscard]] Result<std::filesystem::path> forkRun(const std::filesystem::path& run, std::int64_t step,
                                                    const std::filesystem::path& newRun = {},
                                                    const projects::Project* project = nullptr);

/// Returns an error if `wanted` differs from a run's `own` project in more than a run can change.
[[nodiscard]] Status checkForkProject(const projects::Project& own, const projects::Project& wanted);

/// Returns the steps that a run can be resumed from, ascending: those of its checkpoints, or if it trains on another
/// machine, those of the checkpoints that it has written there.
[[nodiscard]] std::vector<std::int64_t> resumableSteps(const std::filesystem::path& run);

/// The result of a request to end a run.
enum class StopAsked {
    Asked,  ///< the process that trains it will end it after the step, with a checkpoint
    AtRest, ///< no process trains it
};
/// Requests the process that trains the run to end it after `step`; if `step` is 0 or already done, at once. A later
/// request replaces an earlier one.
[[nodiscard]] Result<StopAsked> stopRun(const std::filesystem::path& run, std::int64_t step = 0);

/// Moves the run into the trash folder beside it, so that no list shows it, and returns its place there. Refused while
/// the run is being written.
[[nodiscard]] Result<std::filesystem::path> trashRun(const std::filesystem::path& run);
/// Moves a run from the trash back to its place and returns it.
[[nodiscard]] Result<std::filesystem::path> restoreRun(const std::filesystem::path& trashed);

/// Returns the name of a new run of `project` in this folder, outside a sweep. It is the project's name ("mine"),
/// followed by its wiring if that is not a preset ("mine, custom from ANCRe, ingoing, 3 pruned"). If the project is
/// named after a preset, its wiring's name is used instead ("No shortcuts + 1:4"). If a different run in the folder has
/// this name, the difference from the oldest such run follows ("mine, width 64 features"). Reads the newest runs and
/// the oldest. Blocking; any thread.
[[nodiscard]] std::string nameForRun(const std::filesystem::path& folder, const projects::Project& project);
/// Returns the name of the run that the command starts: the project's name for a member of a sweep, the name of the
/// given directory, or else that of a new run in the folder.
[[nodiscard]] std::string nameForRun(const StartRun& command);

} // namespace residua::engine
