// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <filesystem>

namespace residua::engine {

/// What is done with runs as wholes. Blocking; any thread.

/// Makes `newRun`, which must not exist (empty: a new directory beside `run`), a run that goes on from the checkpoint
/// of `step` of `run`: its numbers up to there, its project, that checkpoint, and where it comes from. It is stopped;
/// ResumeRun trains it. Tells its directory. `project`, if it is not null, is trained from there on in place of the
/// run's; refused if it differs in more than a run can change (canChangeInRun, projects/commands).
[[nodiscard]] Result<std::filesystem::path> forkRun(const std::filesystem::path& run, std::int64_t step,
                                                    const std::filesystem::path& newRun = {},
                                                    const projects::Project* project = nullptr);

/// What became of a wish to end a run.
enum class StopAsked {
    Asked,  ///< the process that trains it ends it after the step, with a checkpoint
    AtRest, ///< none trains it
};
/// Asks the process that trains the run, whichever that is, to end it after `step`; 0, or a step that is done: at once.
/// A later wish takes the place of an earlier one.
[[nodiscard]] Result<StopAsked> stopRun(const std::filesystem::path& run, std::int64_t step = 0);

/// Moves the run into the trash folder beside it, out of every list, and tells its place there. Refused while it is
/// being written.
[[nodiscard]] Result<std::filesystem::path> trashRun(const std::filesystem::path& run);
/// Puts a run from the trash back where it was, and tells its place.
[[nodiscard]] Result<std::filesystem::path> restoreRun(const std::filesystem::path& trashed);

} // namespace residua::engine
