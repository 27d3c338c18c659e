// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Choosing how depth is wired.
namespace residua::projects {

/// An edit that wires the depth otherwise, and what else it changes.
struct Rewiring {
    EditGroup edit;                 ///< its title has the notes too
    std::vector<std::string> notes; ///< "mlp reads q, k and v", "a schedule leaves out layers"
};

/// Wires the depth as a preset does, and gives the layers' blocks the ports that it feeds: q, k and v (and residual)
/// apart, or one input. A preset that is a schedule beside the plain wiring sets both; another takes that schedule
/// back, where it is still as the preset set it. The notes say which blocks and what else changes.
[[nodiscard]] Rewiring wireAs(const Project& project, const TopologyPreset& preset);

/// Which of the presets the project's topology comes from: its name's, or that of a preset with a schedule where
/// wiring and schedule are as that sets them.
[[nodiscard]] std::optional<std::size_t> presetIndexOf(const Project& project, std::span<const TopologyPreset> presets);

/// The edits that give the layers' blocks these ports (withPortsApart, withPortsJoined), one for each block that
/// changes. Blocks that cannot be fed apart stay as they are.
[[nodiscard]] std::vector<Edit> portEdits(const Project& project, MixPorts ports);

} // namespace residua::projects
