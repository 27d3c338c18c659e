// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/sweep_members.h"

#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/run_directory.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/diff/diff.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kClaims = ".claims";

fs::path claimOf(const fs::path& run)
{
    return run.parent_path() / kClaims / run.filename();
}

/// Returns how the run's training differs from `project`. Ignores name and description.
std::vector<std::string> differencesOf(const projects::Project& frozen, const RunInfo& info,
                                       const projects::Project& project)
{
    projects::Project trained = frozen;
    trained.name = project.name;
    trained.description = project.description;
    trained.training.steps = info.steps; // a resumed run may have a new total
    return mapped(projects::diff(trained, project), [](const projects::Change& change) { return change.text(); });
}

MemberStatus statusOf(const RunReader& reader, const RunInfo& info)
{
    std::error_code code;
    switch (info.status) {
    case RunStatus::Running:
    case RunStatus::Paused:
        return member::Training{info.step};
    case RunStatus::Failed:
        return member::Failed{info.message, info.step, fs::last_write_time(fs::path(info.directory) / kRunFile, code)};
    case RunStatus::Finished:
        if (finalValue(info)) {
            return member::Finished{info};
        }
        return member::Unreadable{{info.directory, "the run is finished, but its record has no loss"}};
    case RunStatus::Stopped:
    case RunStatus::Interrupted:
        break;
    }
    const std::vector<std::int64_t> steps = reader.checkpoints();
    const auto by = info.status == RunStatus::Stopped ? member::CutOff::By::Stop : member::CutOff::By::Death;
    return member::CutOff{by, info.step, steps.empty() ? std::nullopt : std::optional(steps.back())};
}

/// Returns the status of a directory without run.json: another process is about to begin the run, a process was killed
/// before that, or it is something else.
MemberStatus statusWithoutRun(const fs::path& run)
{
    if (isRunLocked(run)) {
        return member::Training{};
    }
    if (holdsDebrisAlone(run)) {
        return member::Pending{};
    }
    return member::Unreadable{
        {run.string(), std::string("holds no ") + kRunFile + ", but other files; move it away to train the member"}};
}

MemberStatus statusOfRun(const fs::path& run, const projects::Project& project)
{
    if (!isThere(run)) {
        return member::Pending{};
    }
    if (!isThere(run / kRunFile)) {
        return statusWithoutRun(run);
    }
    const Result<RunReader> reader = RunReader::open(run);
    const Result<projects::Project> frozen = reader ? reader->project() : Result<projects::Project>(reader.error());
    const Result<RunInfo> info = reader ? reader->info() : Result<RunInfo>(reader.error());
    if (!frozen || !info) {
        return member::Unreadable{frozen ? info.error() : frozen.error()};
    }
    if (std::vector<std::string> differences = differencesOf(*frozen, *info, project); !differences.empty()) {
        return member::Foreign{std::move(differences)};
    }
    return statusOf(*reader, *info);
}

/// True if the run may be the member's; its training still has to be compared. Compares the fields of the axes and the
/// labels of their values, not the names of sweep and axes. A membership guessed from a run's name has a wrong label if
/// the project's own name contains the divider. Project and label together still give the member's full name then, even
/// after the run was renamed.
bool isOf(const RunInfo& run, const projects::SweepMember& member)
{
    if (!run.membership) {
        return false;
    }
    if (run.membership->isGuessed()) {
        return run.membership->label() == member.label || nameOf(*run.membership) == member.project.name;
    }
    return std::ranges::equal(run.membership->point, member.membership.point,
                              [](const projects::AxisPoint& one, const projects::AxisPoint& other) {
                                  return one.field == other.field && one.value == other.value;
                              });
}

/// True for a fork that is not finished; its parent says more about the member.
bool isUnfinishedFork(const RunInfo& run)
{
    return !run.parent.empty() && run.status != RunStatus::Finished;
}

/// True if `run` represents the member better than `other`.
bool isBefore(const RunInfo& run, const RunInfo& other)
{
    const bool unfinished = isUnfinishedFork(run);
    return unfinished != isUnfinishedFork(other) ? !unfinished : run.created > other.created;
}

/// Returns the number of steps that a member's run has recorded.
std::int64_t stepOf(const MemberStatus& status)
{
    return std::visit(
        [](const auto& held) -> std::int64_t {
            if constexpr (requires { held.step; }) {
                return held.step;
            } else if constexpr (requires { held.run; }) {
                return held.run.step;
            } else {
                return 0;
            }
        },
        status);
}

/// Returns the value of a run at a step that it has reached; NaN if it has none.
double valueAt(const RunReader& reader, std::int64_t step, const projects::Project& project)
{
    const std::string quantity(projects::judgeOfRuns(project).quantity);
    if (const auto validation = reader.lastPoint(quantity + "/validation", step)) {
        return validation->value;
    }
    std::vector<double> values;
    for (const MetricPoint& point : reader.metric(quantity + "/train", step - lastSteps(step))) {
        if (point.step <= step) {
            values.push_back(point.value);
        }
    }
    return projects::meanOf(values).mean;
}

/// Returns the first few of `differences`, and the number of the others.
std::string listed(const std::vector<std::string>& differences)
{
    constexpr std::size_t kShown = 3;
    return joinedText(differences | std::views::take(kShown), "; ") +
           (differences.size() > kShown ? "; and " + std::to_string(differences.size() - kShown) + " more" : "");
}

} // namespace

MemberStatus memberStatus(const fs::path& run, const projects::Project& project)
{
    MemberStatus status = statusOfRun(run, project);
    // Claimed but not begun: the member is being prepared. A finished run stays Finished while a claim reads it.
    const bool open = std::holds_alternative<member::Pending>(status) ||
                      std::holds_alternative<member::CutOff>(status) || std::holds_alternative<member::Failed>(status);
    if (open && isRunLocked(claimOf(run))) {
        return member::Training{};
    }
    return status;
}

const RunInfo* runAmong(const std::vector<RunInfo>& runs, const projects::SweepMember& member)
{
    const RunInfo* first = nullptr;
    for (const RunInfo& run : runs) {
        if (!isOf(run, member) || (first != nullptr && !isBefore(run, *first))) {
            continue;
        }
        const Result<projects::Project> frozen = readRunProject(run.directory);
        first = frozen && differencesOf(*frozen, run, member.project).empty() ? &run : first;
    }
    return first;
}

MemberStatus memberStatusAmong(const std::vector<RunInfo>& runs, const projects::SweepMember& member)
{
    const RunInfo* const run = runAmong(runs, member);
    return run != nullptr ? statusOfRun(run->directory, member.project) : member::Pending{};
}

projects::HalvedMember halvedMember(const fs::path& run, const MemberStatus& status, const projects::Sweep& sweep,
                                    const projects::SweepMember& member, const projects::Rungs& rungs)
{
    projects::HalvedMember halved{{}, std::vector<std::optional<double>>(rungs.size())};
    for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis) {
        if (!projects::isSeedField(sweep.axes[axis].field)) {
            halved.group.push_back(member.values[axis]);
        }
    }
    halved.hasFailed = std::holds_alternative<member::Failed>(status) ||
                       std::holds_alternative<member::Foreign>(status) ||
                       std::holds_alternative<member::Unreadable>(status);
    const Result<RunReader> reader = stepOf(status) > 0 ? RunReader::open(run) : Result<RunReader>(Error{});
    for (std::size_t rung = 0; reader && rung < rungs.size() && rungs[rung] <= stepOf(status); ++rung) {
        halved.values[rung] = valueAt(*reader, rungs[rung], member.project);
    }
    return halved;
}

std::optional<double> finalValue(const MemberStatus& status)
{
    const auto* const finished = std::get_if<member::Finished>(&status);
    return finished != nullptr ? finalValue(finished->run) : std::nullopt;
}

std::string textOf(const MemberStatus& status)
{
    return std::visit(
        Overloaded{[](const member::Pending&) { return "not begun"; },
                   [](const member::Training&) { return "training"; }, [](const member::CutOff&) { return "cut off"; },
                   [](const member::Finished&) { return "finished"; }, [](const member::Failed&) { return "failed"; },
                   [](const member::Foreign&) { return "another project"; },
                   [](const member::Unreadable&) { return "unreadable"; }},
        status);
}

std::string describe(const MemberStatus& status)
{
    const std::string word = textOf(status);
    return std::visit(
        Overloaded{[&](const member::Training& training) {
                       return word + ", " + std::to_string(training.step) + " steps recorded";
                   },
                   [&](const member::CutOff& cutOff) {
                       const bool died = cutOff.by == member::CutOff::By::Death;
                       return word + " at step " + std::to_string(cutOff.step) + (died ? " with its process" : "") +
                              (cutOff.checkpoint ? ", goes on from step " + std::to_string(*cutOff.checkpoint)
                                                 : ", begins again");
                   },
                   [&](const member::Failed& failed) { return word + ": " + failed.reason; },
                   [&](const member::Foreign& foreign) { return word + ": " + listed(foreign.differences); },
                   [&](const member::Unreadable& unreadable) { return word + ": " + unreadable.error.text(); },
                   [&](const auto&) { return word; }},
        status);
}

Status enterSweep(const fs::path& run, const projects::Membership& membership)
{
    const auto guard = guardRunFile(run);
    auto file = guard ? readRunFile(run) : Result<RunFile>(guard.error());
    if (!file || file->info.membership == membership) {
        return file ? Status(Done{}) : file.error();
    }
    file->info.membership = membership;
    file->info.name = nameOf(membership);
    return writeRunFile(run, *file);
}

Result<std::optional<MemberClaim>> MemberClaim::take(const fs::path& run)
{
    const fs::path claim = claimOf(run);
    std::error_code code;
    fs::create_directories(claim, code);
    if (code) {
        return systemError(claim, "cannot create the folder that shares a sweep among processes", code.value());
    }
    if (isRunLocked(claim)) {
        return std::optional<MemberClaim>();
    }
    Result<FileDescriptor> lock = lockRun(claim);
    if (lock) {
        return std::optional(MemberClaim(run, std::move(*lock)));
    }
    return isRunLocked(claim) ? Result<std::optional<MemberClaim>>(std::optional<MemberClaim>()) : lock.error();
}

MemberStatus MemberClaim::status(const projects::Project& project) const
{
    return statusOfRun(m_run, project);
}

} // namespace residua::engine
