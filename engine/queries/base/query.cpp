// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/queries/base/query.h"

#include "engine/runtime/failure.h"

#include <utility>

namespace residua::engine {

std::optional<Event> Query::advance(const PreparationWatch& watch)
{
    m_watch = watch;
    std::optional<Event> answer;
    const auto failure = attempt([&] { answer = work(); });
    m_watch = {}; // it refers to what is there for this piece alone
    return failure ? QueryFailed{tag(), Error{"engine", failure->text}} : std::move(answer);
}

} // namespace residua::engine
