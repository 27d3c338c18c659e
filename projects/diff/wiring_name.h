// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <string>

namespace residua::projects {

/// Describes a network's wiring briefly: a preset's title, "GRN-v1"; with added shortcuts, "No shortcuts + 1:4"; or
/// with other differences from the preset, "custom from ANCRe, ingoing, 3 pruned". Returns "custom" if no preset has
/// the topology's name.
[[nodiscard]] std::string wiringName(const Topology& topology, const Network& network);
/// True if a preset has this title.
[[nodiscard]] bool isPresetTitle(const std::string& title, const Network& network);

} // namespace residua::projects
