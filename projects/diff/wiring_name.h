// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <string>

namespace residua::projects {

/// What the wiring of a network is, in a few words: a preset's title, "GRN-v1"; with the shortcuts that were added to
/// it, "No shortcuts + 1:4"; or with what else is not as the preset has it, "custom from ANCRe, ingoing, 3 pruned".
/// "custom" if no preset has the topology's name.
[[nodiscard]] std::string wiringName(const Topology& topology, const Network& network);
/// Whether a preset has that title.
[[nodiscard]] bool isPresetTitle(const std::string& title, const Network& network);

} // namespace residua::projects
