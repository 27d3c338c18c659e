// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "engine/host/preparation.h"

#include <optional>

namespace residua::engine {

/// A question that is answered a piece at a time, so that a run beside it goes on and a newer question can take its
/// place. It loads a network of its own from a checkpoint and draws its own random numbers: a run is not disturbed.
/// The sources that answer requests make them by queryFor(request). Engine thread.
class Query {
public:
    virtual ~Query() = default;

    [[nodiscard]] virtual QueryTag tag() const = 0;
    /// Does one piece (loads, a token, a batch). The answer once there is one: the request's Ready, or QueryFailed.
    /// Never throws. A long piece asks `watch` meanwhile, and is QueryFailed where that gives it up.
    [[nodiscard]] std::optional<Event> advance(const PreparationWatch& watch = {});
    /// What is there of the answer, where that is new and worth telling.
    [[nodiscard]] virtual std::optional<Event> takeNews() { return std::nullopt; }
    /// Whether nothing but other threads' work is missing: to advance again at once finds nothing.
    [[nodiscard]] virtual bool waits() const { return false; }

protected:
    /// For what a long piece of work() calls.
    [[nodiscard]] const PreparationWatch& watch() const { return m_watch; }

private:
    [[nodiscard]] virtual std::optional<Event> work() = 0;

    PreparationWatch m_watch; ///< of the piece that is being done
};

} // namespace residua::engine
