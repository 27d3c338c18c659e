// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/sweep/sweep_training.h"

#include "app/cli/runs/run_monitor.h"
#include "projects/base/text.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace residua::cli {
namespace {

using engine::MemberClaim;
using engine::MemberStatus;
namespace member = engine::member;

/// Returns the command that trains a claimed member to its end. A member of a plan with an origin has its run.
engine::Command commandFor(const SweepPlan& plan, const Planned& planned, const SweepTraining& how)
{
    if (!plan.origin && std::holds_alternative<member::Pending>(planned.status)) {
        engine::StartRun start;
        start.run = kRun;
        start.project = planned.member.project;
        start.projectDirectory = plan.projectDirectory;
        start.runDirectory = planned.directory;
        start.device = how.device;
        start.membership = planned.member.membership;
        start.stopAfter = planned.turn.stopAfter;
        return start;
    }
    engine::ResumeRun resume;
    resume.run = kRun;
    resume.of.runDirectory = planned.directory;
    resume.of.projectDirectory = plan.projectDirectory;
    resume.device = how.device;
    resume.of.otherData = how.otherData;
    resume.stopAfter = planned.turn.stopAfter;
    return resume;
}

/// Trains members of a sweep in this process, one at a time.
class SweepTrainer {
public:
    SweepTrainer(SweepPlan& plan, const SweepTraining& how, const Console& console)
        : m_plan(plan), m_how(how), m_console(console)
    {
        for (const Planned& planned : plan.members) {
            const auto* const failed = std::get_if<member::Failed>(&planned.status);
            m_failedBefore.push_back(failed != nullptr && how.failed == FailedMembers::TryAgain ? failed->since
                                                                                                : kNever);
        }
    }

    /// Returns the next member that this process may train, or nullopt.
    std::optional<std::size_t> next();
    Exit train(std::size_t index);

private:
    using Moment = std::filesystem::file_time_type;
    static constexpr Moment kNever = Moment::min();

    [[nodiscard]] bool isOpen(std::size_t index) const;
    /// Makes the run of a member that goes on from the plan's origin, or makes it a member if it was cut off before.
    /// Returns nullopt if it can be trained.
    std::optional<Exit> begin(std::size_t index, const Console& console);
    Exit conclude(std::size_t index, const RunOutcome& outcome, const Console& console);
    Exit failed(std::size_t index, const Error& error, const Console& console);

    SweepPlan& m_plan;
    const SweepTraining& m_how;
    const Console& m_console;
    /// A member is tried once, or once for each rung.
    using Trial = std::pair<std::size_t, std::int64_t>;
    [[nodiscard]] Trial trialOf(std::size_t index) const { return {index, m_plan.members[index].turn.stopAfter}; }
    std::set<Trial> m_tried;
    std::vector<Moment> m_failedBefore;             ///< by member: the earlier failure that may be retried once
    std::map<std::size_t, member::Failed> m_untold; ///< failures that the run's own files may not record
};

std::optional<std::size_t> SweepTrainer::next()
{
    lookAgain(m_plan);
    for (const auto& [index, failure] : m_untold) {
        MemberStatus& status = m_plan.members[index].status;
        status = canBeTrained(status) ? failure : status;
    }
    // A member whose process died may also kill the next process (by its memory, say), so it comes after the others.
    std::optional<std::size_t> doubtful;
    for (std::size_t i = 0; i < m_plan.members.size(); ++i) {
        if (!m_plan.members[i].chosen || m_tried.contains(trialOf(i)) || !isOpen(i)) {
            continue;
        }
        const auto* const cutOff = std::get_if<member::CutOff>(&m_plan.members[i].status);
        if (cutOff == nullptr || cutOff->by == member::CutOff::By::Stop) {
            return i;
        }
        doubtful = doubtful.value_or(i);
    }
    return doubtful;
}

bool SweepTrainer::isOpen(std::size_t index) const
{
    if (m_plan.members[index].turn.kind != projects::HalvingTurn::Kind::Train) {
        return false;
    }
    const MemberStatus& status = m_plan.members[index].status;
    const auto* const failed = std::get_if<member::Failed>(&status);
    return canBeTrained(status) || (failed != nullptr && failed->since == m_failedBefore[index]);
}

Exit SweepTrainer::train(std::size_t index)
{
    Planned& planned = m_plan.members[index];
    const bool lines = m_how.output == MemberOutput::Lines;
    const Console console = lines ? m_console.about(planned.member.label) : m_console;
    const Result<std::optional<MemberClaim>> claim = MemberClaim::take(planned.directory);
    if (!claim) {
        return failed(index, claim.error(), console);
    }
    if (!*claim) {
        return Exit::Ok; // another process was faster, which the next check will show
    }
    planned.status = (*claim)->status(planned.member.project);
    decideTurns(m_plan);
    if (!isOpen(index)) {
        return Exit::Ok;
    }
    m_tried.insert(trialOf(index));
    if (!lines) {
        console.line("[" + std::to_string(index + 1) + "/" + std::to_string(m_plan.members.size()) + "] " +
                     planned.member.label);
    }
    if (const std::optional<Exit> ended = m_plan.origin ? begin(index, console) : std::nullopt) {
        return *ended;
    }
    const Show show = console.json() && !lines ? Show::Nothing : Show::Progress;
    const engine::Command command = commandFor(m_plan, planned, m_how);
    return conclude(index, follow(command, console, show, m_how.computing), console);
}

std::optional<Exit> SweepTrainer::begin(std::size_t index, const Console& console)
{
    const Planned& planned = m_plan.members[index];
    const bool isNew = std::holds_alternative<member::Pending>(planned.status);
    const std::optional<Status> begun = isNew ? beginMember(m_plan, planned, m_how.otherData, m_how.computing, console)
                                              : engine::enterSweep(planned.directory, planned.member.membership);
    if (!begun) {
        console.remark("interrupted: the same command goes on from here");
        return Exit::Interrupted;
    }
    return *begun ? std::nullopt : std::optional(failed(index, begun->error(), console));
}

Exit SweepTrainer::conclude(std::size_t index, const RunOutcome& outcome, const Console& console)
{
    const std::int64_t rung = m_plan.members[index].turn.stopAfter;
    if (outcome.ended.status == engine::RunStatus::Stopped && outcome.stopCause == StopCause::None &&
        outcome.ended.step == rung) {
        console.line("reached the rung at step " + groupedText(rung));
        return Exit::Ok;
    }
    if (outcome.ended.status == engine::RunStatus::Stopped) {
        return concludeStopped(outcome, "the same command goes on from here", console);
    }
    const std::string& unrecorded = outcome.ended.unrecorded;
    const bool hasFailed = outcome.ended.hasFailed();
    const Exit ended =
        hasFailed ? failed(index, outcome.ended.error, console)
        : unrecorded.empty()
            ? Exit::Ok
            : failed(index, {outcome.started.runDirectory.string(), "its record here is incomplete: " + unrecorded},
                     console);
    // If the end was requested while this member ended, no other member begins.
    switch (outcome.stopCause) {
    case StopCause::Signal:
        return Exit::Interrupted;
    case StopCause::TimeLimit:
        return Exit::TimeLimit;
    case StopCause::None:
        break;
    }
    return ended;
}

Exit SweepTrainer::failed(std::size_t index, const Error& error, const Console& console)
{
    console.remark("error: " + error.text());
    m_tried.insert(trialOf(index));
    m_untold[index] = member::Failed{error.text(), 0, {}};
    return Exit::RunFailed;
}

constexpr std::chrono::seconds kBetweenLooks{1};

/// True if members wait for a rung that other processes still train: then work may follow.
bool awaitsOthers(const SweepPlan& plan)
{
    const auto isTraining = [](const Planned& planned) {
        return std::holds_alternative<member::Training>(planned.status);
    };
    const auto waits = [](const Planned& planned) {
        return planned.chosen && planned.turn.kind == projects::HalvingTurn::Kind::Wait;
    };
    return std::ranges::any_of(plan.members, waits) && std::ranges::any_of(plan.members, isTraining);
}

} // namespace

bool canBeTrained(const MemberStatus& status)
{
    return std::holds_alternative<member::Pending>(status) || std::holds_alternative<member::CutOff>(status);
}

Exit verdictOf(const SweepPlan& plan)
{
    const auto isBad = [](const Planned& planned) {
        return planned.chosen && (std::holds_alternative<member::Failed>(planned.status) ||
                                  std::holds_alternative<member::Foreign>(planned.status) ||
                                  std::holds_alternative<member::Unreadable>(planned.status));
    };
    return std::ranges::any_of(plan.members, isBad) ? Exit::RunFailed : Exit::Ok;
}

bool endsSweep(Exit ended)
{
    return ended == Exit::Interrupted || ended == Exit::Quit || ended == Exit::TimeLimit;
}

Exit trainChosen(SweepPlan& plan, const SweepTraining& how, const Console& console)
{
    SweepTrainer trainer(plan, how, console);
    while (true) {
        const std::optional<std::size_t> index = trainer.next();
        if (!index && !awaitsOthers(plan)) {
            break;
        }
        const auto& limit = how.computing.timeLimit;
        const bool over = limit != nullptr && limit->isOver(TimeLimit::Clock::now());
        if (!index && !over) {
            std::this_thread::sleep_for(kBetweenLooks);
            continue;
        }
        if (const Exit ended = over ? Exit::TimeLimit : trainer.train(*index); endsSweep(ended)) {
            lookAgain(plan);
            const bool isLeft = std::ranges::any_of(plan.members, [](const Planned& planned) {
                return planned.chosen && canBeTrained(planned.status) &&
                       planned.turn.kind != projects::HalvingTurn::Kind::LeftOut;
            });
            return isLeft ? ended : verdictOf(plan);
        }
    }
    return verdictOf(plan);
}

} // namespace residua::cli
