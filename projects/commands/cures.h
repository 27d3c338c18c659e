// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/check/validate.h"
#include "projects/edit/edit.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// What takes a problem away.
namespace residua::projects {

/// An edit after which a problem is gone, and what a button for it says: "Set 4 heads".
struct Cure {
    std::string title;
    Edit edit;
};

/// The cure of a problem, which has been tried on a copy of the project: after it the problem is gone and there are no
/// more errors than before. nullopt where no cure is known.
[[nodiscard]] std::optional<Cure> cureOf(const Project& project, const Problem& problem);
/// The cures of the first `most` of `problems`, which are all that validate() finds in `project`. What would cure
/// several of them is tried once.
[[nodiscard]] std::vector<std::optional<Cure>> curesOf(const Project& project, const std::vector<Problem>& problems,
                                                       std::size_t most);

} // namespace residua::projects
