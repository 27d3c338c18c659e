// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <typeindex>
#include <utility>
#include <variant>
#include <vector>

namespace residua::app {

/// The events that sessions have sent and that are not delivered yet. Each session has a number, because a
/// session of an earlier place may end late, and two sessions may use the same number for a run. Any thread.
class WaitingEvents {
public:
    /// Adds an event of a session. Drops it if it is about a run and the session is not the newest one; queries of an
    /// earlier one are still answered. Returns true if the event is the first that waits.
    bool add(engine::Event event, std::uint64_t session);
    [[nodiscard]] std::vector<engine::Event> take();
    /// Returns the number of a new session. Drops waiting events about runs.
    std::uint64_t beginSession();
    /// Returns the number of the newest session.
    [[nodiscard]] std::uint64_t session() const;

private:
    mutable std::mutex m_mutex;
    std::vector<engine::Event> m_events;
    std::uint64_t m_session = 0;
};

/// The engine for the window. Events are collected on the engine's thread, which never waits, and delivered on the GUI
/// thread. Consecutive progress of a run is joined, and events of runs that are not followed are dropped. A run that
/// the background engine has already is followed, unless a run of this window has not ended.
class EngineBridge : public QObject {
    Q_OBJECT
public:
    explicit EngineBridge(QObject* parent = nullptr);
    ~EngineBridge() override;

    /// Uses the engine at `place` from now on, and follows no run. A child ends, with its run; queries fail.
    void setPlace(engine::EngineRemote place);
    [[nodiscard]] const engine::EngineRemote& place() const { return m_place; }
    /// True if a run continues without this window.
    [[nodiscard]] bool outlivesWindow() const { return m_place.kind == engine::EngineRemote::Kind::Background; }

    /// Sends StartRun or ResumeRun with a new id, which is followed from then on. No function of this class blocks.
    template <class Begins>
    engine::RunId begin(Begins command)
    {
        m_lastRun = static_cast<engine::RunId>(static_cast<std::uint64_t>(m_lastRun) + 1);
        m_run = m_lastRun;
        m_follows = true;
        tell(std::move(command));
        return m_run;
    }
    /// Sends a command to the run that is followed: Pause, Continue, Step or Stop.
    template <class OfRun>
    void tell(OfRun command)
    {
        command.run = m_run;
        m_session->post(std::move(command));
    }
    /// Sends a query to the engine and returns its tag. Calls `onProgress` while the engine works on it, then either
    /// `onAnswer` or `onFailed`. Calls none of them once `owner` has been destroyed, which cancels the query, and none
    /// once drop() has been called or `owner` has asked another query of this kind. The engine
    /// answers one query of a kind at a time: a newer one makes the older one fail, whoever asked.
    template <class Query>
    engine::QueryTag ask(Query query, QObject* owner,
                         const std::function<void(const engine::AnswerOf<Query>&)>& onAnswer,
                         const std::function<void(const engine::QueryFailed&)>& onFailed,
                         const std::function<void(const engine::ProgressOf<Query>&)>& onProgress = {})
    {
        m_lastTag = static_cast<engine::QueryTag>(static_cast<std::uint64_t>(m_lastTag) + 1);
        query.tag = m_lastTag;
        hear(query.tag, owner, typeid(Query), [onAnswer, onFailed, onProgress](const engine::Event& event) {
            if (const auto* const answer = std::get_if<engine::AnswerOf<Query>>(&event)) {
                onAnswer(*answer);
            } else if (const auto* const failed = std::get_if<engine::QueryFailed>(&event)) {
                onFailed(*failed);
            } else if (const auto* const progress = std::get_if<engine::ProgressOf<Query>>(&event);
                       progress && onProgress) {
                onProgress(*progress);
            }
        });
        m_session->post(std::move(query));
        return m_lastTag;
    }
    /// Cancels a query. Its answer is still delivered: onFailed, unless the engine had answered it before.
    void giveUp(engine::QueryTag query) { m_session->post(engine::GiveUp{query}); }
    /// Cancels a query and forgets its handlers.
    void drop(engine::QueryTag query);
    /// Emits the signal of an event that is not stale, or calls who waits for it.
    void dispatch(const engine::Event& event);
    /// Returns the time that the engine's thread has spent in delivering events since the start.
    [[nodiscard]] double secondsHandingOver() const { return 1e-9 * static_cast<double>(m_handingOver.load()); }

signals:
    void placeChanged();
    /// Emitted for each event of the followed run, except for its notices.
    void runTold(const residua::engine::Event& event);
    void noticed(const residua::engine::Notice& event);
    void placeUnknown(const residua::engine::RemoteUnknown& event);

private:
    /// The one who waits for the answer of a query.
    struct Listener {
        const QObject* owner = nullptr;
        std::type_index kind; ///< of the query
        std::function<void(const engine::Event&)> take;
    };

    void hear(engine::QueryTag query, QObject* owner, std::type_index kind,
              std::function<void(const engine::Event&)> take);
    void dropAllOf(QObject* owner);
    void receive(engine::Event event, std::uint64_t session); ///< engine thread
    void deliver();                                           ///< GUI thread
    void passOn(engine::QueryTag tag, const engine::Event& event, bool isLast);
    void noteFoundRun(const engine::Event& event);
    void followFoundRun();
    [[nodiscard]] std::unique_ptr<engine::Session> newSession();
    [[nodiscard]] bool stale(const engine::Event& event) const;

    std::atomic<std::int64_t> m_handingOver = 0; ///< nanoseconds
    WaitingEvents m_waiting;
    engine::RunId m_run{};                     ///< the followed one
    engine::RunId m_lastRun{};                 ///< each run that the window begins has its own
    bool m_follows = false;                    ///< the followed run has not ended
    std::optional<engine::RunStarted> m_found; ///< of the background engine, while another one is followed
    engine::QueryTag m_lastTag{};              ///< each query has its own
    std::map<engine::QueryTag, Listener> m_listeners;
    engine::EngineRemote m_place;
    std::vector<std::future<void>> m_ending;    ///< sessions of earlier places, which end on other threads
    std::unique_ptr<engine::Session> m_session; ///< last: its thread uses the other members
};

/// The cost of the open window for the training, measured over the last seconds. GUI thread.
class GuiCost : public QObject {
    Q_OBJECT
public:
    explicit GuiCost(const EngineBridge& engine, QObject* parent = nullptr);

    /// Returns the share of its time that the training thread spends in delivering its numbers, in per cent. This cost
    /// exists even if a core is free for the window.
    [[nodiscard]] double trainingPercent() const { return m_training; }
    /// Returns the processor time of the GUI thread, in per cent of one core. The training loses it if no core is free.
    [[nodiscard]] double corePercent() const { return m_core; }
    /// Starts or stops the measurement.
    void setActive(bool active);

signals:
    void measured();

private:
    void begin();
    void measure();

    const EngineBridge& m_engine;
    QTimer m_timer;
    QElapsedTimer m_wall;
    double m_handedOver = 0; ///< seconds at the start of the interval
    double m_processor = 0;  ///< seconds at the start of the interval
    double m_training = 0;
    double m_core = 0;
};

} // namespace residua::app
