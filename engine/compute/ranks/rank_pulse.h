// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/rank_position.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace residua::engine {

/// Says once a second that this rank is alive, and carries the wish to stop: on a thread and a connection of its own,
/// because the other connection is used by waiting calls. Any thread.
class RankPulse {
public:
    /// Calls `abort` if this rank was asked to stop before training began, and rank 0 does not obey within seconds.
    RankPulse(const RankPosition& place, std::function<void()> abort);
    /// Does not wait for a store that does not answer.
    ~RankPulse();
    RankPulse(const RankPulse&) = delete;
    RankPulse& operator=(const RankPulse&) = delete;

    /// On a rank but the first: asks rank 0 to stop once `wanted` returns false.
    void setWanted(std::function<bool()> wanted);
    /// Notes that training has begun.
    void noteStep();
    /// On rank 0: returns why another rank wants the run to stop, if one does.
    [[nodiscard]] std::optional<std::string> stopAsked() const;
    /// Returns why a rank does not train, if one has said so.
    [[nodiscard]] std::optional<std::string> refused() const;

private:
    struct State;
    std::shared_ptr<State> m_state; ///< shared with the thread, which may outlive this
    std::thread m_thread;
};

} // namespace residua::engine
