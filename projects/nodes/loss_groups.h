// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <cstddef>
#include <set>
#include <vector>

namespace residua::projects {

/// The losses of a document whose gradients go to the same towers.
struct LossGroup {
    std::set<std::size_t> trains; ///< towers, by index (projects/nodes/towers.h)
    std::vector<Loss> losses;     ///< further ones
    bool hasObjectives = false;   ///< true if it has the towers' objectives
};

/// Returns the groups, the one with the objectives first. Towers that a group does not train pass gradients on.
[[nodiscard]] std::vector<LossGroup> lossGroupsOf(const Project& project);

} // namespace residua::projects
