// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/queries/base/query.h"

#include "engine/runtime/failure.h"

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
    m_watch = {}; // it refers to what is there for this piece alone
    if (failure) {
        return QueryFailed{tag(), Error{"engine", failure->text}};
    }
    // One message for all pieces, some of which add to it or go on; an answer that is there all the same is told.
    const bool isReady = answer && !std::holds_alternative<QueryFailed>(*answer);
    return givenUp && !isReady ? QueryFailed{tag(), preparationGivenUp()} : std::move(answer);
}

} // namespace residua::engine
