// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>

namespace residua::engine {

/// The memory of the values that an event carries, in bytes; approximate. 0 except for Progress.
[[nodiscard]] std::size_t bytesOf(const Event& event);
/// The most that waits for a reader, and that a background engine keeps for the next one.
inline constexpr std::size_t kMostWaitingBytes = std::size_t{64} << 20;

/// Writes events in their order on a thread of its own, so that a slow reader does not delay a step. If more than
/// kMostWaitingBytes wait, drops the oldest Progress: the run's store has its numbers. Progress of a query takes the
/// place of such progress that waits, but not of its texts. If the other side has ended, closes a socket in both
/// directions.
class EventWriter {
public:
    explicit EventWriter(int descriptor) : m_descriptor(descriptor), m_writing([this] { writeAll(); }) {}
    /// Writes what waits, unless the other side has ended.
    ~EventWriter();
    EventWriter(const EventWriter&) = delete;
    EventWriter& operator=(const EventWriter&) = delete;

    void take(Event event);

private:
    void writeAll();

    int m_descriptor;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::deque<Event> m_waiting;
    std::size_t m_bytes = 0; ///< of those
    bool m_quit = false;
    bool m_broken = false; ///< the other side has ended
    std::thread m_writing; ///< last, because the thread uses the other members
};

} // namespace residua::engine
