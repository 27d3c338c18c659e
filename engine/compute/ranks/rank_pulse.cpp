// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ranks/rank_pulse.h"

#include "engine/compute/ranks/tcp_rank_store.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

namespace residua::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPulse{1};
/// The time to reach the store, which the other connection of this rank has reached.
constexpr std::chrono::minutes kReaching{5};
constexpr std::chrono::seconds kObeys{5}; ///< in which rank 0 ends a run that has not begun

} // namespace

struct RankPulse::State {
    std::mutex mutex; ///< guards the following but `trains`; the network is never waited for under it
    std::condition_variable wake;
    bool quit = false;
    bool hasEnded = false;
    std::function<bool()> wanted;
    std::optional<std::string> stopAsked;
    std::optional<std::string> refused;
    std::atomic<bool> trains = false;

    /// Waits a moment. Returns false at the end.
    bool goesOn()
    {
        std::unique_lock lock(mutex);
        return !wake.wait_for(lock, kRankLook, [this] { return quit; });
    }

    bool isWanted()
    {
        const std::scoped_lock lock(mutex);
        return !wanted || wanted();
    }

    void beat(const RankPosition& place, const std::function<void()>& abort)
    {
        const auto store = TcpRankStore::reach(place, kReaching, [this](double) { return goesOn(); });
        Clock::time_point said;
        std::optional<Clock::time_point> asked;
        for (std::int64_t count = 0; goesOn();) {
            const auto now = Clock::now();
            if (now - said >= kPulse) {
                said = now;
                store->set(pulseKeyOf(place.rank), std::to_string(count++));
            }
            // A rank that trains hears of the end in its next exchange.
            std::optional<std::string> over = trains ? std::nullopt : store->find(kOverKey);
            std::optional<std::string> stop = place.rank == 0 ? store->find(kStopKey) : std::nullopt;
            {
                const std::scoped_lock lock(mutex);
                refused = over ? std::move(over) : std::move(refused);
                stopAsked = std::move(stop);
            }
            if (place.rank == 0) {
                continue;
            }
            if (!asked && !isWanted()) {
                asked = now;
                (void)store->claim(kStopKey, stoppedText(place.rank));
            } else if (asked && !trains && now - *asked >= kObeys && goesOn()) {
                abort();
                return;
            }
        }
    }

    void run(RankPosition place, const std::function<void()>& abort)
    {
        place.keepsStore = false;
        try {
            beat(place, abort);
        } catch (const std::exception&) {
            // The store has gone. The next exchange says so.
        }
        const std::scoped_lock lock(mutex);
        hasEnded = true;
        wake.notify_all();
    }
};

RankPulse::RankPulse(const RankPosition& place, std::function<void()> abort)
    : m_state(std::make_shared<State>()),
      m_thread([state = m_state, place, abort = std::move(abort)] { state->run(place, abort); })
{
}

RankPulse::~RankPulse()
{
    std::unique_lock lock(m_state->mutex);
    m_state->quit = true;
    m_state->wake.notify_all();
    const bool hasEnded = m_state->wake.wait_for(lock, kPulse, [this] { return m_state->hasEnded; });
    lock.unlock();
    hasEnded ? m_thread.join() : m_thread.detach();
}

void RankPulse::setWanted(std::function<bool()> wanted)
{
    const std::scoped_lock lock(m_state->mutex);
    m_state->wanted = std::move(wanted);
}

void RankPulse::noteStep()
{
    m_state->trains = true;
}

std::optional<std::string> RankPulse::stopAsked() const
{
    const std::scoped_lock lock(m_state->mutex);
    return m_state->stopAsked;
}

std::optional<std::string> RankPulse::refused() const
{
    const std::scoped_lock lock(m_state->mutex);
    return m_state->refused;
}

} // namespace residua::engine
