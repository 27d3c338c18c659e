// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/time_limit.h"

#include <algorithm>

namespace residua::cli {
namespace {

/// Time reserved for ending the process and for checkpoints that take longer than the last one.
constexpr std::chrono::seconds kSpare{1};
constexpr int kCheckpoints = 2;

} // namespace

void TimeLimit::started(Clock::time_point now)
{
    m_last = now;
    if (m_state != State::Stopped) {
        m_state = m_measured ? State::Measured : State::Unmeasured;
    }
}

void TimeLimit::heard(Clock::time_point now)
{
    if (m_state != State::Preparing) {
        m_longestPause = std::max(m_longestPause, now - m_last);
    }
    m_last = now;
}

void TimeLimit::checkpointed(Clock::time_point now)
{
    m_longestCheckpoint = std::max(m_longestCheckpoint, now - m_last);
    m_measured = true;
    if (m_state == State::Unmeasured || m_state == State::Asked) {
        m_state = State::Measured;
    }
}

TimeLimit::Clock::time_point TimeLimit::stopAt() const
{
    const Clock::duration reserve = m_longestPause + kCheckpoints * m_longestCheckpoint + kSpare;
    return m_begin + m_limit - reserve;
}

std::optional<TimeLimit::Clock::time_point> TimeLimit::next() const
{
    switch (m_state) {
    case State::Unmeasured:
        return std::min(m_begin + m_limit / 2, stopAt());
    case State::Preparing:
    case State::Asked:
    case State::Measured:
        return stopAt();
    case State::Stopped:
        break;
    }
    return std::nullopt;
}

TimeLimit::Act TimeLimit::due(Clock::time_point now)
{
    if (m_state == State::Stopped || now < *next()) {
        return Act::Nothing;
    }
    if (isOver(now)) {
        m_state = State::Stopped;
        return Act::Stop;
    }
    m_state = State::Asked;
    return Act::Checkpoint;
}

} // namespace residua::cli
