// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"

#include <variant>

namespace residua::tests {

/// The wiring of a project whose wiring is a depth mix.
inline projects::DepthMix& mixOf(projects::Project& project)
{
    return std::get<projects::DepthMix>(project.stack().topology.wiring);
}
inline const projects::DepthMix& mixOf(const projects::Project& project)
{
    return std::get<projects::DepthMix>(project.stack().topology.wiring);
}

} // namespace residua::tests
