// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/check/sound_project.h"
#include "projects/layers/shortcut_edits.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

#include <optional>
#include <string>
#include <vector>

namespace residua::projects {

/// What adding `shortcut` costs, a figure a line, or why it cannot be added. `sound` is the same project where its
/// network has no errors; without it there are no figures.
struct CostLines {
    std::vector<std::string> lines;
    bool possible = false;
};
[[nodiscard]] CostLines costLines(const Project& project, const std::optional<SoundProject>& sound,
                                  const Shortcut& shortcut);

/// What drawing a shortcut would make of the wiring.
struct ShortcutCheck {
    bool possible = false;               ///< it may be drawn
    std::optional<Adding> adding = {};   ///< nullopt: nothing, since it does not run forward in depth
    std::vector<std::string> costs = {}; ///< of what is new: costLines
};
/// `sound`: as for costLines.
[[nodiscard]] ShortcutCheck checkShortcut(const Project& project, const std::optional<SoundProject>& sound,
                                          const Shortcut& shortcut);

/// What `after` costs more than `before`, in one line; empty where that cannot be known.
[[nodiscard]] std::string costOfChange(const Project& before, const Project& after);

} // namespace residua::projects
