// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/cost/cost_topology.h"

namespace residua::tests {

/// The cost of a topology over `layers` layers without loops.
[[nodiscard]] inline projects::NodeCost topologyCost(projects::Topology topology, std::int64_t layers,
                                                     std::int64_t width)
{
    projects::Stack stack;
    stack.width = width;
    stack.segments = {{{}, layers}};
    stack.topology = std::move(topology);
    return projects::topologyCost(stack);
}

} // namespace residua::tests
