// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/base/query.h"

#include "engine/compute/runtime/cuda_backend.h"

#include <utility>
#include <variant>

namespace residua::engine {

std::optional<Event> Query::advance(const PreparationWatch& watch)
{
    bool givenUp = false;
    m_watch = [&](double share) {
        givenUp = givenUp || (watch && !watch(share));
        return !givenUp;
    };
    std::optional<Event> answer;
    const auto failure = attempt([&] { answer = work(); });
    m_watch = {}; // the watch refers to objects that exist during this piece only
    if (failure) {
        return QueryFailed{tag(), Error{"engine", failure->text}};
    }
    // All pieces report the same error if they are cancelled, whatever error they return. An answer that exists is
    // still sent.
    const bool isReady = answer && !std::holds_alternative<QueryFailed>(*answer);
    return givenUp && !isReady ? QueryFailed{tag(), preparationGivenUp()} : std::move(answer);
}

} // namespace residua::engine
