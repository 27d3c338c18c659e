// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/project_argument.h"
#include "app/cli/arguments/request_arguments.h"
#include "engine/base/api/environment.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace residua::cli {

/// Returns the request of an analysis of a run, or of a project with its initial weights, by its first argument.
template <class Request>
[[nodiscard]] Result<Request> subjectRequestFrom(const Arguments& arguments, const Console& console)
{
    Request request = RESIDUA_TRY(requestFrom<Request>(arguments));
    const std::filesystem::path subject = arguments.positional(0);
    std::error_code ignored;
    if (std::filesystem::exists(subject / engine::kRunFile, ignored)) {
        if (arguments.has("set")) {
            return Error{"--set", "is for a project, and " + subject.string() + " is a run: its project is frozen"};
        }
    } else {
        ValueOr<NamedProject, Refusal> named = openProject(subject.string(), arguments, console);
        if (!named) {
            return named.error().error;
        }
        request.project = std::move(named->document.project);
        request.of = {{}, named->directory};
    }
    return request;
}

} // namespace residua::cli
