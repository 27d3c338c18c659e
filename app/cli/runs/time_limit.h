// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <optional>

namespace residua::cli {

/// When a run has to stop so that its checkpoint is written before a time is over. What that takes is measured: the
/// longest pause between two events is what the step, the validation or the checkpoint under way may still take, and
/// the longest checkpoint is what the last one takes. Where none has been written by half of the time, one is asked
/// for.
class TimeLimit {
public:
    using Clock = std::chrono::steady_clock;

    TimeLimit(Clock::time_point begin, Clock::duration limit) : m_begin(begin), m_limit(limit), m_last(begin) {}

    /// The training began, for this run; a sweep's members follow each other within one limit.
    void started(Clock::time_point now);
    /// An event of the run came.
    void heard(Clock::time_point now);
    /// The event of a checkpoint came. To be called before heard() of the same event, since the time since the event
    /// before it is measured.
    void checkpointed(Clock::time_point now);

    enum class Act { Nothing, Checkpoint, Stop };
    /// What is due; each act once a run.
    [[nodiscard]] Act due(Clock::time_point now);
    /// When due() is to be asked next; nothing after Stop.
    [[nodiscard]] std::optional<Clock::time_point> next() const;
    /// Whether nothing new is to be begun.
    [[nodiscard]] bool isOver(Clock::time_point now) const { return now >= stopAt(); }

private:
    enum class State { Preparing, Unmeasured, Asked, Measured, Stopped };

    [[nodiscard]] Clock::time_point stopAt() const;

    Clock::time_point m_begin;
    Clock::duration m_limit;
    Clock::time_point m_last;              ///< of the events
    Clock::duration m_longestPause{};      ///< between two
    Clock::duration m_longestCheckpoint{}; ///< of this process
    bool m_measured = false;
    State m_state = State::Preparing;
};

} // namespace residua::cli
