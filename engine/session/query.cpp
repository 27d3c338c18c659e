// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/query.h"

#include "engine/session/failure.h"

namespace residua::engine {

std::optional<Event> Query::advance()
{
    std::optional<Event> answer;
    if (const auto failure = attempt([&] { answer = work(); })) {
        return QueryFailed{tag(), Error{"engine", failure->text}};
    }
    return answer;
}

} // namespace residua::engine
