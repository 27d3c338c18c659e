// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

// The selection of a topology preset.
namespace residua::projects {

/// An edit that changes the wiring, with notes on its other changes.
struct Rewiring {
    EditGroup edit;                 ///< its title includes the notes
    std::vector<std::string> notes; ///< "mlp reads q, k and v", "a schedule leaves out layers"
};

/// Wires the depth by a preset and gives the layers' blocks the ports that it feeds: separate q, k and v (and
/// residual), or one input. A preset with a schedule sets that too. Any other preset removes such a schedule if it is
/// unchanged. The notes list the changed blocks and other changes.
[[nodiscard]] Rewiring wireAs(const Project& project, const TopologyPreset& preset);

/// Returns the index of the preset that the project's topology comes from: the one with its name, or a preset with a
/// schedule if wiring and schedule are the preset's.
[[nodiscard]] std::optional<std::size_t> presetIndexOf(const Project& project, std::span<const TopologyPreset> presets);

/// Returns the edits that give the layers' blocks these ports (withPortsApart, withPortsJoined), one for each block
/// that changes. Blocks that cannot have them are unchanged.
[[nodiscard]] std::vector<Edit> portEdits(const Project& project, MixPorts ports);

} // namespace residua::projects
