// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"

#include <deque>
#include <memory>
#include <mutex>
#include <optional>

namespace residua::cli {

/// A session whose events, and the user's Ctrl-C (SIGINT, SIGTERM), are waited for in one place. One instance a
/// process: while it lives those signals do not kill. Used by the thread that made it.
class EngineLink {
public:
    EngineLink();
    ~EngineLink();
    EngineLink(const EngineLink&) = delete;
    EngineLink& operator=(const EngineLink&) = delete;

    void post(engine::Command command) { m_session->post(std::move(command)); }
    /// Waits; nothing stands for an interrupt.
    [[nodiscard]] std::optional<engine::Event> next();

private:
    [[nodiscard]] std::optional<engine::Event> take();

    int m_signals = -1; ///< signalfd
    int m_wake = -1;    ///< eventfd, written when an event comes
    std::mutex m_mutex; ///< guards m_events
    std::deque<engine::Event> m_events;
    std::unique_ptr<engine::Session> m_session;
};

} // namespace residua::cli
