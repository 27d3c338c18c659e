// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <optional>

namespace residua::cli {

/// Decides when a run must stop so that its checkpoint is written before the time limit. The times are measured: the
/// current step, validation or checkpoint may take as long as the longest pause between two events, and the last
/// checkpoint as long as the longest one. If no checkpoint has been written by half of the time, one is requested.
class TimeLimit {
public:
    using Clock = std::chrono::steady_clock;

    TimeLimit(Clock::time_point begin, Clock::duration limit) : m_begin(begin), m_limit(limit), m_last(begin) {}

    /// Called when the training of a run begins. The members of a sweep share one limit.
    void started(Clock::time_point now);
    /// Called when an event of the run arrives.
    void heard(Clock::time_point now);
    /// Called when the event of a checkpoint arrives. Must be called before heard() of the same event, because it
    /// measures the time since the event before.
    void checkpointed(Clock::time_point now);

    enum class Act { Nothing, Checkpoint, Stop };
    /// Returns the act that is due. Each act is returned once per run.
    [[nodiscard]] Act due(Clock::time_point now);
    /// Returns the time of the next call of due(); nullopt after Stop.
    [[nodiscard]] std::optional<Clock::time_point> next() const;
    /// True if no new work may begin.
    [[nodiscard]] bool isOver(Clock::time_point now) const { return now >= stopAt(); }

private:
    enum class State { Preparing, Unmeasured, Asked, Measured, Stopped };

    [[nodiscard]] Clock::time_point stopAt() const;

    Clock::time_point m_begin;
    Clock::duration m_limit;
    Clock::time_point m_last;              ///< of the events
    Clock::duration m_longestPause{};      ///< between two events
    Clock::duration m_longestCheckpoint{}; ///< in this process
    bool m_measured = false;
    State m_state = State::Preparing;
};

} // namespace residua::cli
