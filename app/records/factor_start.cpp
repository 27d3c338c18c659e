// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/records/factor_start.h"

#include "projects/nodes/node_kinds.h"

#include <algorithm>
#include <variant>

namespace residua::app {

std::optional<projects::LowRankMethod> startOfFactors(const projects::Project& project)
{
    const bool factors = !std::holds_alternative<projects::FullRank>(project.network.rank) ||
                         std::ranges::any_of(project.network.blocks, [](const projects::Block& block) {
                             return std::ranges::any_of(block.graph.nodes, projects::hasOwnRank);
                         });
    return factors ? std::optional(project.initialisation.lowRank) : std::nullopt;
}

} // namespace residua::app
