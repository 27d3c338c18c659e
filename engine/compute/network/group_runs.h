// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"
#include "projects/nodes/towers.h"

#include <cstddef>
#include <set>
#include <vector>

namespace residua::engine {

/// The towers, by index in the document, of a group of losses.
struct GroupRun {
    std::set<std::size_t> runs;     ///< all that run
    std::set<std::size_t> measures; ///< those whose objective is computed
    std::set<std::size_t> keeps;    ///< those whose values later groups read in place of another run
};

/// The towers of each group.
struct GroupRuns {
    std::vector<GroupRun> alone;   ///< if the groups are computed alone
    std::vector<GroupRun> sharing; ///< if they are computed in turn for one batch, and share values
};

/// Plans which towers each group runs: all that its losses read, and with the objectives those that have any. `order`
/// lists the towers of the network, each after those that it reads; `regularised` those with regularisers.
[[nodiscard]] GroupRuns groupRunsOf(const projects::Project& project, const std::vector<projects::LossGroup>& groups,
                                    const std::vector<std::size_t>& order, const std::set<std::size_t>& regularised);

} // namespace residua::engine
