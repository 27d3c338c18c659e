// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/process/preparations.h"

#include "engine/base/api/run_progress.h"
#include "engine/base/machine/failure.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

namespace residua::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kSendingNotices{1};

} // namespace

bool beginsRun(const Command& command)
{
    return std::visit([]<class Asked>(const Asked&) { return kBeginsRun<Asked>; }, command);
}

bool controls(const Command& command)
{
    return std::visit([]<class Asked>(const Asked&) { return kControlsRun<Asked> || std::is_same_v<Asked, GiveUp>; },
                      command);
}

bool givesUp(const Command& command, const Command& other)
{
    if (const auto* const stop = std::get_if<Stop>(&command)) {
        return beginsRun(other) && runIdOf(other) == stop->run;
    }
    const auto* const giveUp = std::get_if<GiveUp>(&command);
    return giveUp != nullptr && std::visit(
                                    [&]<class Asked>(const Asked& asked) {
                                        if constexpr (kIsQuery<Asked>) {
                                            return asked.tag == giveUp->tag;
                                        } else {
                                            return false;
                                        }
                                    },
                                    other);
}

void Preparations::start(const Command& command, const EngineRemote& place)
{
    std::unique_lock lock(m_mutex);
    const auto isRun = [](const auto& other) { return !other->isDone && beginsRun(other->command); };
    if (beginsRun(command) && std::ranges::any_of(m_all, isRun)) {
        lock.unlock();
        if (m_owner.settle(command)) {
            m_owner.refuse(command, {"run", "another run is active: stop it first"});
        }
        return;
    }
    const auto isDone = [](const auto& other) { return other->isDone; };
    std::vector<std::shared_ptr<Preparation>> done;
    std::ranges::copy_if(m_all, std::back_inserter(done), isDone);
    const auto preparation = std::make_shared<Preparation>(command);
    m_all.reserve(m_all.size() + 1);
    preparation->thread = std::thread([this, preparation, place] { // before the list changes, because it may fail
        if (const auto failure = attemptStandard([&] { carryOut(*preparation, place); })) {
            conclude(*preparation, Error{"engine's connection", failure->text});
        }
    });
    std::erase_if(m_all, isDone);
    m_all.push_back(preparation);
    lock.unlock();
    for (const auto& other : done) {
        other->thread.join();
    }
}

void Preparations::carryOut(Preparation& preparation, const EngineRemote& place)
{
    std::optional<bool> owed;
    const auto answers = [&](Event event) {
        owed = owed ? owed : isOwed(preparation);
        if (*owed) { // otherwise the process has ended since, and its end has answered
            m_owner.take(std::move(event));
        }
    };
    const StartWatch watch = [&](const std::string& text) { m_owner.notice(preparation.command, text); };
    const RemoteLink link{watchFor(preparation), [&] { return connectForFiles(place, preparation.work, watch); },
                          answers};
    const Result<std::optional<Command>> there = m_owner.translate(preparation.command, link);
    if (!there) {
        conclude(preparation, there.error());
        return;
    }
    if (!*there) {
        return; // it is answered
    }
    {
        const std::scoped_lock lock(m_mutex);
        preparation.isPosted = !preparation.work.isCancelled();
    }
    if (!preparation.isPosted) {
        conclude(preparation, {});
        return;
    }
    m_owner.postTranslated(preparation.command, **there);
    std::unique_lock lock(m_mutex);
    while (!preparation.held.empty()) {
        const std::vector<Command> held = std::exchange(preparation.held, {});
        lock.unlock();
        for (const Command& command : held) {
            m_owner.postTranslated(command, command);
        }
        lock.lock();
    }
    preparation.isDone = true;
}

/// Answers a command that is not posted, unless the end of the process has answered it.
void Preparations::conclude(Preparation& preparation, const Error& why)
{
    if (!isOwed(preparation)) {
        return;
    }
    if (preparation.work.isCancelled()) {
        m_owner.answerGivenUp(preparation.command);
    } else {
        m_owner.refuse(preparation.command, why);
    }
}

/// Ends a preparation whose command will not be posted.
bool Preparations::isOwed(Preparation& preparation)
{
    const bool owed = m_owner.settle(preparation.command);
    const std::scoped_lock lock(m_mutex);
    preparation.isDone = true; // before others hear of the end, and begin the next run
    return owed;
}

PreparationWatch Preparations::watchFor(const Preparation& preparation)
{
    return [this, &preparation, told = Clock::now()](double share) mutable {
        if (const auto now = Clock::now(); now - told >= kSendingNotices) {
            told = now;
            m_owner.notice(preparation.command,
                           "sending the files: " + std::to_string(static_cast<int>(100 * share)) + " %");
        }
        return !preparation.work.isCancelled();
    };
}

void Preparations::giveUp(const Command& command)
{
    const std::scoped_lock lock(m_mutex);
    for (const auto& preparation : m_all) {
        if (!preparation->isPosted && givesUp(command, preparation->command)) {
            preparation->work.cancel();
        }
    }
}

bool Preparations::takes(const Command& command)
{
    const std::scoped_lock lock(m_mutex);
    for (const auto& preparation : m_all) {
        const bool ends = givesUp(command, preparation->command);
        const bool sameRun =
            beginsRun(preparation->command) && controls(command) && runIdOf(command) == runIdOf(preparation->command);
        if (preparation->isDone || !(ends || sameRun)) {
            continue;
        }
        if (preparation->isPosted || !ends) {
            preparation->held.push_back(command);
        } else {
            preparation->work.cancel(); // posted before there was anything to give up
        }
        return true;
    }
    return false;
}

void Preparations::cancel()
{
    const std::scoped_lock lock(m_mutex);
    for (const auto& preparation : m_all) {
        preparation->work.cancel();
    }
}

void Preparations::join()
{
    std::vector<std::shared_ptr<Preparation>> all;
    {
        const std::scoped_lock lock(m_mutex);
        all.swap(m_all);
    }
    for (const auto& preparation : all) {
        preparation->work.cancel();
        preparation->thread.join();
    }
}

} // namespace residua::engine
