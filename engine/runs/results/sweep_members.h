// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "projects/base/files.h"
#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/studies/halving.h"
#include "projects/studies/sweep_grid.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace residua::engine {

/// The status of a sweep's member, from its run's files. Only a finished member has a loss.
namespace member {
/// No run, or only the files of a process that was killed before the run began.
struct Pending {};
/// A live process trains it.
struct Training {
    std::int64_t step = 0; ///< recorded steps
};
/// It resumes from its checkpoint, or starts again without one.
struct CutOff {
    enum class By { Stop, Death } by = By::Stop; ///< a stop was requested, or its process was killed
    std::int64_t step = 0;                       ///< recorded steps
    std::optional<std::int64_t> checkpoint;
};
struct Finished {
    RunInfo run; ///< with its last values
};
/// It diverged, ran out of memory, lost its disk, or failed otherwise.
struct Failed {
    std::string reason;
    std::int64_t step = 0;
    std::filesystem::file_time_type since{}; ///< when its run.json was written
};
/// The directory holds a run with a different training.
struct Foreign {
    std::vector<std::string> differences; ///< such as "~ training · steps: 60 → 61", from the run to the member
};
struct Unreadable {
    Error error;
};
} // namespace member

using MemberStatus = std::variant<member::Pending, member::Training, member::CutOff, member::Finished, member::Failed,
                                  member::Foreign, member::Unreadable>;

/// Returns the status of the member `project` whose run is, or will be, in `run`. Blocking; any thread.
[[nodiscard]] MemberStatus memberStatus(const std::filesystem::path& run, const projects::Project& project);
/// Returns the status of the newest of `runs` that belongs to this point of a grid and trains the same, except for the
/// number of steps; Pending if there is no such run. The run may belong to any sweep with the same fields and values,
/// or the same label if it is known by its name only. An unfinished fork is used only if there is no other run.
/// Blocking; any thread.
[[nodiscard]] MemberStatus memberStatusAmong(const std::vector<RunInfo>& runs, const projects::SweepMember& member);

/// Returns the newest of `runs` that memberStatusAmong() would look at, or null. Blocking; any thread.
[[nodiscard]] const RunInfo* runAmong(const std::vector<RunInfo>& runs, const projects::SweepMember& member);
/// Returns what halving decides by (halve): the member's values at the rungs that its run has reached. A value is the
/// last validation up to the rung, or without one the mean of the last training steps. Blocking; any thread.
[[nodiscard]] projects::HalvedMember halvedMember(const std::filesystem::path& run, const MemberStatus& status,
                                                  const projects::Sweep& sweep, const projects::SweepMember& member,
                                                  const projects::Rungs& rungs);

/// Returns the loss that members are compared by: the validation loss if it exists, otherwise the training loss.
/// nullopt unless the member has finished.
[[nodiscard]] std::optional<double> finalValue(const MemberStatus& status);
/// Returns one or two words: "not begun", "training", "cut off", "finished", "failed", "another project", "unreadable".
[[nodiscard]] std::string textOf(const MemberStatus& status);
/// Returns the status with its details: "cut off at step 40, goes on from step 30".
[[nodiscard]] std::string describe(const MemberStatus& status);

/// Makes a fork the member of a sweep, under its name. Does nothing to a run that is this member already.
[[nodiscard]] Status enterSweep(const std::filesystem::path& run, const projects::Membership& membership);

/// The exclusive right to train a member, among all processes that train one sweep. It is a lock like a run's own,
/// which ends with its process. It is taken before the run is made, so that no two processes prepare the same member.
/// Its file is in the hidden folder .claims beside the run.
class MemberClaim {
public:
    /// Takes the claim; nullopt if another process has it. Returns an error if the folder cannot be written.
    [[nodiscard]] static Result<std::optional<MemberClaim>> take(const std::filesystem::path& run);

    /// Returns the status as memberStatus(), without counting this claim as training.
    [[nodiscard]] MemberStatus status(const projects::Project& project) const;

private:
    MemberClaim(std::filesystem::path run, FileDescriptor lock) : m_run(std::move(run)), m_lock(std::move(lock)) {}
    std::filesystem::path m_run;
    FileDescriptor m_lock;
};

} // namespace residua::engine
