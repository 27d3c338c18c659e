// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"

#include <optional>
#include <variant>

namespace residua::engine {

/// Returns the run that a command or an event is about; nullopt for the others. Kept apart from both, because few files
/// need it.
template <class Message>
[[nodiscard]] std::optional<RunId> runIdOf(const Message& message)
{
    return std::visit(
        []<class Part>(const Part& part) -> std::optional<RunId> {
            if constexpr (requires { part.run; }) {
                return part.run;
            } else {
                return std::nullopt;
            }
        },
        message);
}

} // namespace residua::engine
