// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/check/validate.h"
#include "projects/edit/edit.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// Edits that remove a problem.
namespace residua::projects {

/// An edit after which a problem is gone, and the title of its button: "Set 4 heads".
struct Cure {
    std::string title;
    Edit edit;
};

/// Returns a cure of a problem. It has been tried on a copy of the project: the problem is gone and there are no more
/// errors than before. Returns nullopt if no cure is known.
[[nodiscard]] std::optional<Cure> cureOf(const Project& project, const Problem& problem);
/// Returns the cures of the first `most` of `problems`, which must be all problems of validate(project). A cure of
/// several problems is tried once.
[[nodiscard]] std::vector<std::optional<Cure>> curesOf(const Project& project, const std::vector<Problem>& problems,
                                                       std::size_t most);

} // namespace residua::projects
