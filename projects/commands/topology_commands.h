// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"

#include <vector>

// Choosing how depth is wired.
namespace residua::projects {

/// Wires the depth as a preset does, and gives the layers' blocks the ports that it feeds: q, k and v (and residual)
/// apart, or one input. The group's title says which blocks change.
[[nodiscard]] EditGroup wireAs(const Project& project, const TopologyPreset& preset);

/// The edits that give the layers' blocks these ports (withPortsApart, withPortsJoined), one for each block that
/// changes. Blocks that cannot be fed apart stay as they are.
[[nodiscard]] std::vector<Edit> portEdits(const Project& project, MixPorts ports);

} // namespace residua::projects
