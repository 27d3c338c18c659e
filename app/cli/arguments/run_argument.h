// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"
#include "engine/api/session.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace residua::cli {

/// Returns the options of every command that uses the data of an existing run.
[[nodiscard]] inline OptionSpec projectOption()
{
    return {"project", OptionKind::Text, "DIR", "the project's folder now (default: where the run remembers it)"};
}
[[nodiscard]] inline OptionSpec otherDataOption()
{
    return {"other-data", OptionKind::Flag, "", "go on though the data are not those that the run was trained on"};
}

/// Sets the fields of an engine command from these options.
template <class Request>
void setSource(Request& request, const Arguments& arguments)
{
    request.projectDirectory = arguments.text("project");
    request.otherData = arguments.has("other-data") ? engine::OtherData::Accept : engine::OtherData::Refuse;
}

/// Prints the notes of an answer to stderr.
inline void remarkNotes(const std::vector<std::string>& notes, const Console& console)
{
    for (const std::string& note : notes) {
        console.remark("note: " + note);
    }
}

/// Ends a command without an answer: reports the error, or the interrupt followed by `after`.
inline Exit unanswered(const std::optional<engine::Event>& answer, const Console& console,
                       const std::string& after = "there is no answer")
{
    if (!answer) {
        return console.fail(Exit::Quit, {"", "interrupted: " + after});
    }
    const auto* const failed = std::get_if<engine::QueryFailed>(&*answer);
    if (failed != nullptr) {
        remarkNotes(failed->notes, console);
    }
    return console.fail(Exit::RunFailed, failed != nullptr ? failed->error : Error{"engine", "unexpected answer"});
}

} // namespace residua::cli
