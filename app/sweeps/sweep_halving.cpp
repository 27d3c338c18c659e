// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sweeps/sweep_halving.h"

#include "app/engine/background.h"
#include "app/records/runs_model.h"
#include "app/training/run_controller.h"
#include "engine/runs/results/sweep_members.h"
#include "projects/model/objective.h"
#include "projects/nodes/towers.h"

#include <variant>

namespace residua::app {

SweepHalving::SweepHalving(RunController& controller, const RunsModel& runs, QObject* parent)
    : QObject(parent), m_controller(controller), m_runs(runs)
{
    connect(&m_controller, &RunController::ended, this, &SweepHalving::onEnded);
    connect(&m_controller, &RunController::started, this, [this](const std::filesystem::path& run) {
        if (m_training) {
            m_begun[m_training->first] = run;
        }
    });
}

void SweepHalving::start(HalvedSweep sweep)
{
    m_sweep = std::move(sweep);
    m_begun.clear();
    m_tried.clear();
    m_training.reset();
    ++m_asked; // pending decisions are outdated
    decide();
}

void SweepHalving::decide()
{
    if (m_sweep.members.empty()) {
        return;
    }
    const auto work = [sweep = m_sweep, runs = m_runs.runs(), begun = m_begun, tried = m_tried] {
        std::vector<projects::HalvedMember> halved;
        std::vector<engine::MemberStatus> statuses;
        std::vector<std::filesystem::path> places;
        for (std::size_t i = 0; i < sweep.members.size(); ++i) {
            const projects::SweepMember& member = sweep.members[i];
            const engine::RunInfo* const known = begun.contains(i) ? nullptr : engine::runAmong(runs, member);
            places.push_back(begun.contains(i)  ? begun.at(i)
                             : known != nullptr ? std::filesystem::path(known->directory)
                                                : std::filesystem::path());
            statuses.push_back(places[i].empty() ? engine::MemberStatus(engine::member::Pending{})
                                                 : engine::memberStatus(places[i], member.project));
            halved.push_back(engine::halvedMember(places[i], statuses[i], sweep.sweep, member, sweep.rungs));
        }
        const auto judge = projects::judgeOfRuns(sweep.members.front().project);
        const std::vector<projects::HalvingTurn> turns = projects::halve(sweep.rungs, halved, judge);
        Decision decision;
        for (std::size_t i = 0; i < turns.size(); ++i) {
            const bool isPending = std::holds_alternative<engine::member::Pending>(statuses[i]);
            const bool isOpen = isPending || std::holds_alternative<engine::member::CutOff>(statuses[i]);
            const Turn turn{i, turns[i].stopAfter};
            decision.leftOut += turns[i].kind == projects::HalvingTurn::Kind::LeftOut ? 1 : 0;
            if (!decision.turn && isOpen && turns[i].kind == projects::HalvingTurn::Kind::Train &&
                !tried.contains(turn)) {
                decision.turn = turn;
                decision.run = isPending ? std::filesystem::path() : places[i];
            }
        }
        return decision;
    };
    inBackground(this, work, [this, asked = ++m_asked](const Decision& decision) {
        if (asked == m_asked && !m_training) {
            take(decision);
        }
    });
}

void SweepHalving::take(const Decision& decision)
{
    if (!decision.turn) {
        m_sweep = {};
        emit finished(decision.leftOut);
        return;
    }
    m_training = decision.turn; // before started(), which may follow at once
    if (m_controller.trainMember(m_sweep.members[decision.turn->first], decision.run, decision.turn->second)) {
        m_tried.insert(*decision.turn);
    } else {
        m_training.reset(); // another run trains, and its end leads here again
    }
}

void SweepHalving::onEnded(const engine::RunEnded& event)
{
    const std::optional<Turn> trained = std::exchange(m_training, std::nullopt);
    const bool isStopped = event.status == engine::RunStatus::Stopped;
    if (trained && (event.noEngine || (isStopped && event.step != trained->second))) {
        start({}); // the user has ended it
        return;
    }
    decide();
}

} // namespace residua::app
