// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "engine/base/machine/preparation.h"

#include <memory>
#include <optional>

namespace residua::engine {

/// A query that is answered in pieces, so that a run can continue beside it and a newer query can replace it. It loads
/// its own network from a checkpoint and draws its own random numbers, so it does not disturb a run. Engine thread.
class Query {
public:
    virtual ~Query() = default;

    [[nodiscard]] virtual QueryTag tag() const = 0;
    /// Executes one piece (loads, a token, a batch). Returns the answer once it is complete: the request's Ready event,
    /// or QueryFailed. Never throws. A long piece calls `watch`, and returns QueryFailed if it cancels.
    [[nodiscard]] std::optional<Event> advance(const PreparationWatch& watch = {});
    /// Returns the progress or the partial answer if it is new; else nullopt.
    [[nodiscard]] virtual std::optional<Event> takeNews() { return std::nullopt; }
    /// True if the query only waits for other threads, so that advancing again at once would do nothing.
    [[nodiscard]] virtual bool waits() const { return false; }

protected:
    /// Returns the watch, which a long piece of work() calls.
    [[nodiscard]] const PreparationWatch& watch() const { return m_watch; }

private:
    [[nodiscard]] virtual std::optional<Event> work() = 0;

    PreparationWatch m_watch; ///< of the current piece
};

/// Makes the query of `request`. The source of each query specialises it. Engine thread.
template <class Request>
requires kIsQuery<Request>
[[nodiscard]] std::unique_ptr<Query> queryFor(const Request& request);

} // namespace residua::engine
