// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>

namespace residua::cli {

/// What a signal asks for.
enum class Signal {
    Interrupt,  ///< SIGINT: a person at the keyboard
    Terminate,  ///< SIGTERM, SIGHUP: a scheduler, or a terminal that was closed; both may come more than once
    Checkpoint, ///< SIGUSR1
};

struct TimeUp {};

/// What was waited for, whichever came first.
using Heard = std::variant<engine::Event, Signal, TimeUp>;

/// A session whose events, and the signals to this process, are waited for in one place. One instance a process: while
/// it lives SIGINT, SIGTERM and SIGHUP do not end the process, and SIGUSR1 is heard; SIGHUP stays ignored where it was
/// (nohup). Used by the thread that made it.
class EngineClient {
public:
    using Clock = std::chrono::steady_clock;

    /// `threads` of the processor for the engine's mathematics; 0: as many as it finds.
    explicit EngineClient(int threads = 0);
    ~EngineClient();
    EngineClient(const EngineClient&) = delete;
    EngineClient& operator=(const EngineClient&) = delete;

    void post(engine::Command command) { m_session->post(std::move(command)); }
    /// Waits, at most until then. A signal goes first, then the time, then events.
    [[nodiscard]] Heard next(std::optional<Clock::time_point> until = {});

private:
    [[nodiscard]] std::optional<Signal> takeSignal();
    [[nodiscard]] std::optional<engine::Event> takeEvent();

    int m_signals = -1; ///< signalfd
    int m_wake = -1;    ///< eventfd, written when an event comes
    std::mutex m_mutex; ///< guards m_events
    std::deque<engine::Event> m_events;
    std::unique_ptr<engine::Session> m_session;
};

/// Asks an engine of its own one question, and waits for the answer. An interrupt gives the question up: then there is
/// nothing, unless the answer was ready before the engine heard of it. `news` is given the events that are a part of
/// the answer and not the end of it.
[[nodiscard]] std::optional<engine::Event> ask(const engine::Command& question, int threads = 0,
                                               const std::function<void(const engine::Event&)>& news = {});

} // namespace residua::cli
