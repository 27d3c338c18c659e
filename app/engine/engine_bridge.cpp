// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/engine/engine_bridge.h"

#include "engine/base/api/run_progress.h"
#include "projects/base/result.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <type_traits>

namespace residua::app {

bool WaitingEvents::add(engine::Event event, std::uint64_t session)
{
    const std::lock_guard lock(m_mutex);
    if (session != m_session && engine::runIdOf(event)) {
        return false;
    }
    auto* const progress = std::get_if<engine::Progress>(&event);
    auto* const last = m_events.empty() ? nullptr : std::get_if<engine::Progress>(&m_events.back());
    if (progress != nullptr && last != nullptr && last->run == progress->run) {
        engine::merge(*last, std::move(*progress));
        return false;
    }
    m_events.push_back(std::move(event));
    return m_events.size() == 1;
}

std::vector<engine::Event> WaitingEvents::take()
{
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_events, {});
}

std::uint64_t WaitingEvents::beginSession()
{
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_events, [](const engine::Event& event) { return runIdOf(event).has_value(); });
    return ++m_session;
}

std::uint64_t WaitingEvents::session() const
{
    const std::lock_guard lock(m_mutex);
    return m_session;
}

EngineBridge::EngineBridge(QObject* parent) : QObject(parent), m_session(newSession()) {}

EngineBridge::~EngineBridge() = default;

std::unique_ptr<engine::Session> EngineBridge::newSession()
{
    const std::uint64_t number = m_waiting.beginSession();
    return std::make_unique<engine::Session>([this, number](engine::Event event) { receive(std::move(event), number); },
                                             0, m_place);
}

void EngineBridge::setPlace(engine::EngineRemote place)
{
    if (place == m_place) {
        return;
    }
    m_place = std::move(place);
    // On another thread, because a connection may take long to end.
    m_ending.push_back(std::async(std::launch::async, [old = std::move(m_session)]() mutable { old.reset(); }));
    m_session = newSession();
    m_lastRun = static_cast<engine::RunId>(static_cast<std::uint64_t>(m_lastRun) + 1);
    m_run = m_lastRun; // events of the run that was followed are stale
    m_follows = false;
    m_found.reset();
    emit placeChanged();
}

void EngineBridge::receive(engine::Event event, std::uint64_t session)
{
    const auto begin = std::chrono::steady_clock::now();
    const bool first = m_waiting.add(std::move(event), session);
    if (first) { // the first waiting event schedules the call that delivers all
        QMetaObject::invokeMethod(this, &EngineBridge::deliver, Qt::QueuedConnection);
    }
    m_handingOver += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
}

void EngineBridge::deliver()
{
    const std::uint64_t session = m_waiting.session();
    for (const engine::Event& event : m_waiting.take()) {
        if (session != m_waiting.session() && engine::runIdOf(event)) {
            continue; // a receiver of an earlier one has changed the place
        }
        noteFoundRun(event);
        if (!stale(event)) {
            m_follows = m_follows && !std::holds_alternative<engine::RunEnded>(event);
            dispatch(event);
            followFoundRun();
        }
    }
}

/// Follows a run of the background engine if no other run is followed. Otherwise keeps it until that run has ended.
void EngineBridge::noteFoundRun(const engine::Event& event)
{
    const auto* const started = std::get_if<engine::RunStarted>(&event);
    const auto* const ended = std::get_if<engine::RunEnded>(&event);
    if (started && started->run == engine::kFoundRun && m_follows) {
        m_found = *started;
    } else if (started && started->run == engine::kFoundRun) {
        m_run = engine::kFoundRun;
        m_follows = true;
    } else if (ended && ended->run == engine::kFoundRun) {
        m_found.reset();
    }
}

void EngineBridge::followFoundRun()
{
    if (m_found && !m_follows) {
        m_run = engine::kFoundRun;
        m_follows = true;
        emit runTold(*std::exchange(m_found, std::nullopt));
    }
}

bool EngineBridge::stale(const engine::Event& event) const
{
    const std::optional<engine::RunId> run = runIdOf(event);
    return run && *run != m_run;
}

void EngineBridge::dispatch(const engine::Event& event)
{
    std::visit(Overloaded{
                   [this](const engine::Notice& value) { emit noticed(value); },
                   [this](const engine::RemoteUnknown& value) { emit placeUnknown(value); },
                   [this, &event]<class Told>(const Told& value) {
                       if constexpr (requires { value.run; }) {
                           emit runTold(event);
                       } else {
                           if constexpr (std::is_same_v<Told, engine::QueryProgress>) {
                               if (!value.text.empty()) {
                                   emit noticed({m_run, value.text});
                                   return;
                               }
                           }
                           passOn(value.tag, event, !engine::kIsProgress<Told>);
                       }
                   },
               },
               event);
}

void EngineBridge::hear(engine::QueryTag query, QObject* owner, std::type_index kind,
                        std::function<void(const engine::Event&)> take)
{
    std::erase_if(m_listeners, [owner, kind](const auto& entry) {
        return entry.second.owner == owner && entry.second.kind == kind;
    });
    m_listeners.emplace(query, Listener{owner, kind, std::move(take)});
    connect(owner, &QObject::destroyed, this, &EngineBridge::dropAllOf, Qt::UniqueConnection);
}

void EngineBridge::drop(engine::QueryTag query)
{
    if (m_listeners.erase(query) > 0) {
        giveUp(query);
    }
}

void EngineBridge::dropAllOf(QObject* owner)
{
    std::erase_if(m_listeners, [this, owner](const auto& entry) {
        if (entry.second.owner == owner) {
            giveUp(entry.first);
        }
        return entry.second.owner == owner;
    });
}

void EngineBridge::passOn(engine::QueryTag tag, const engine::Event& event, bool isLast)
{
    const auto found = m_listeners.find(tag);
    if (found == m_listeners.end()) {
        return;
    }
    const auto take = found->second.take; // a copy, because the listener may drop the query
    if (isLast) {
        m_listeners.erase(found);
    }
    take(event);
}

namespace {

constexpr int kIntervalMilliseconds = 2000;

/// Returns the processor time of the calling thread so far.
double processorSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

} // namespace

GuiCost::GuiCost(const EngineBridge& engine, QObject* parent) : QObject(parent), m_engine(engine)
{
    m_timer.setInterval(kIntervalMilliseconds);
    connect(&m_timer, &QTimer::timeout, this, &GuiCost::measure);
}

void GuiCost::setActive(bool active)
{
    if (active == m_timer.isActive()) {
        return;
    }
    if (active) {
        begin();
        m_timer.start();
    } else {
        m_timer.stop();
    }
}

void GuiCost::begin()
{
    m_wall.start();
    m_handedOver = m_engine.secondsHandingOver();
    m_processor = processorSeconds();
}

void GuiCost::measure()
{
    const double wall = 1e-9 * static_cast<double>(m_wall.nsecsElapsed());
    m_training = 100 * (m_engine.secondsHandingOver() - m_handedOver) / wall;
    m_core = 100 * (processorSeconds() - m_processor) / wall;
    begin();
    emit measured();
}

} // namespace residua::app
