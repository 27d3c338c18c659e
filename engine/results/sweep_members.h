// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/base/files.h"
#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/studies/sweep_grid.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace residua::engine {

/// Where a member of a sweep is, as its run's files tell. Only a finished member has a loss.
namespace member {
/// No run, or only what a process left that died before the run began.
struct Pending {};
/// A living process trains it.
struct Training {
    std::int64_t step = 0; ///< steps recorded so far
};
/// It goes on from its checkpoint, and begins again where there is none.
struct CutOff {
    enum class By { Stop, Death } by = By::Stop; ///< it was asked to stop, or its process died
    std::int64_t step = 0;                       ///< steps recorded
    std::optional<std::int64_t> checkpoint;
};
struct Finished {
    double loss = 0;                      ///< the last of training
    std::optional<double> validationLoss; ///< the last, where the project validates
};
/// It diverged, ran out of memory, lost its disk, …
struct Failed {
    std::string reason;
    std::int64_t step = 0;
    std::filesystem::file_time_type since{}; ///< when its run.json was written
};
/// The directory holds the run of a project that trains otherwise.
struct Foreign {
    std::vector<std::string> differences; ///< "~ training · steps: 60 → 61", from the run to the member
};
struct Unreadable {
    Error error;
};
} // namespace member

using MemberStatus = std::variant<member::Pending, member::Training, member::CutOff, member::Finished, member::Failed,
                                  member::Foreign, member::Unreadable>;

/// The status of the member `project` whose run is, or will be, in `run`. Blocking; any thread.
[[nodiscard]] MemberStatus memberStatus(const std::filesystem::path& run, const projects::Project& project);
/// The status of the newest of `runs` that is a member of any sweep at the same point of the grid (fields and
/// values; of one that is known by its name alone, its label) and trains what this member does, but for the number of
/// steps; Pending where none is. A fork that is not finished comes after all others. Blocking; any thread.
[[nodiscard]] MemberStatus memberStatusAmong(const std::vector<RunInfo>& runs, const projects::SweepMember& member);

/// What members are compared by: the validation loss where there is one, otherwise the training loss. Nothing unless
/// the member has finished.
[[nodiscard]] std::optional<double> finalLoss(const MemberStatus& status);
/// One or two words: "not begun", "training", "cut off", "finished", "failed", "another project", "unreadable".
[[nodiscard]] std::string textOf(const MemberStatus& status);
/// The same with what there is to say of it: "cut off at step 40, goes on from step 30".
[[nodiscard]] std::string describe(const MemberStatus& status);

/// The right to train a member, among all processes that train one sweep: a lock as a run's own, which ends with the
/// process however it dies. It is taken before the run is made, so that no two processes prepare the same member. It
/// lies beside the run, in the hidden folder .claims.
class MemberClaim {
public:
    /// Nothing while another has it. Errors where the folder cannot be written.
    [[nodiscard]] static Result<std::optional<MemberClaim>> take(const std::filesystem::path& run);

    /// As memberStatus(), but this claim itself does not make the member count as training.
    [[nodiscard]] MemberStatus status(const projects::Project& project) const;

private:
    MemberClaim(std::filesystem::path run, FileDescriptor lock) : m_run(std::move(run)), m_lock(std::move(lock)) {}
    std::filesystem::path m_run;
    FileDescriptor m_lock;
};

} // namespace residua::engine
